internal import CThreadControl
internal import Dispatch

/// Isolates a timer source of a serial queue that is set anew each time, strictly and without leeway.
final class DispatchAlarmClock: AlarmClock {
    private let queue = DispatchQueue(label: "alarm")

    /// Whichever of Dispatch's.
    var threads: [ThreadNumber] { [] }

    func start(_ series: AlarmSeries) {
        let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        ask(source, series)
        source.activate()
    }

    private func ask(_ source: any DispatchSourceTimer, _ series: AlarmSeries) {
        let deadline = bench_now() + series.next()
        source.setEventHandler { [self] in
            if series.fired(late: bench_now() - deadline) { ask(source, series) } else { source.cancel() }
        }
        source.schedule(deadline: DispatchTime(uptimeNanoseconds: UInt64(deadline)), leeway: .nanoseconds(0))
    }
}

internal import CThreadControl
internal import NIOCore

/// Isolates SwiftNIO's `scheduleTask`.
final class NIOAlarmClock: AlarmClock {
    private let loop = NIOLoop()

    var threads: [ThreadNumber] { [loop.number] }

    func start(_ series: AlarmSeries) {
        loop.loop.execute { [loop] in Self.ask(loop, series) }
    }

    private static func ask(_ loop: NIOLoop, _ series: AlarmSeries) {
        let deadline = bench_now() + series.next()
        loop.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(deadline))) {
            if series.fired(late: bench_now() - deadline) { ask(loop, series) }
        }
    }
}

internal import CThreadControl
internal import Foundation

/// Isolates Foundation's `Timer`, whose dates are of the wall clock.
final class FoundationAlarmClock: AlarmClock {
    private let loop = FoundationLoop()

    var threads: [ThreadNumber] { [loop.number] }

    func start(_ series: AlarmSeries) {
        loop.perform { Self.ask(series) }
    }

    private static func ask(_ series: AlarmSeries) {
        let time = series.next()
        let deadline = bench_now() + time
        let date = Date(timeIntervalSinceNow: Double(time) / 1e9)
        let timer = Timer(fire: date, interval: 0, repeats: false) { _ in
            if series.fired(late: bench_now() - deadline) { ask(series) }
        }
        RunLoop.current.add(timer, forMode: .default)
    }
}

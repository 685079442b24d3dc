internal import RunLoops

/// Isolates our `Timer`, by the clock that its date is of.
final class LoopAlarmClock: AlarmClock {
    private let thread: RunLoopThread
    let threads: [ThreadNumber]

    init(_ policy: RunLoop.WaitPolicy) throws {
        thread = try RunLoopThread(name: "alarm")
        threads = try thread.runLoop.performAndWait {
            RunLoop.current.waitPolicy = policy
            return [ThreadNumber.current]
        }
    }

    func start(_ series: AlarmSeries) {
        thread.runLoop.perform { Self.ask(series) }
    }

    private static func ask(_ series: AlarmSeries) {
        let date = ContinuousClock.now + .nanoseconds(series.next())
        let timer = Timer(fireAt: date, interval: .zero, repeats: false) { _ in
            if series.fired(late: date.duration(to: .now).nanoseconds) { ask(series) }
        }
        RunLoop.current.add(timer, forMode: .default)
    }
}

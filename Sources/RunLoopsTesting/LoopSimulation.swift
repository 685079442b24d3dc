public import RunLoops

/// Runs code that uses run loops on a clock that is moved by hand, one thread at a time, in an order that a seed decides.
///
/// The body is called at once, on the calling thread, which has another loop meanwhile. Every `RunLoopThread` that it starts,
/// and that those start, is part of the simulation, too. Only one of these threads runs at any time. Which one
/// goes on, when a pass of a loop begins or a thread waits, is drawn from the seed: the same seed gives the same order, and
/// another one gives another. Time stands still unless the body moves it.
///
/// ```swift
/// try LoopSimulation.run(seed: 7) { simulation in
///     var count = 0
///     Timer.scheduledTimer(withTimeInterval: .seconds(3600), repeats: true) { _ in count += 1 }
///     simulation.advance(by: .seconds(86_400))
///     #expect(count == 24)
/// }
/// ```
///
/// The members are for the body, outside of its loop's handlers; ``now`` and ``seed`` can be read anywhere.
///
/// > Thread safety: the body's thread only, but for what is said above.
public final class LoopSimulation: Sendable {
    /// What decides the order in which threads go on.
    public let seed: UInt64

    let schedule: Schedule

    private init(seed: UInt64, patience: Duration) {
        self.seed = seed
        schedule = Schedule(seed: seed, patience: patience)
    }

    /// Calls a body in a simulation of its own.
    ///
    /// In the body `RunLoop.current` is a loop that nobody else knows, also on the main thread. When the body has returned, or
    /// thrown, all threads of the simulation are ended, and that loop with them.
    ///
    /// - Parameters:
    ///   - seed: What decides the order in which threads go on. Run a test with many, and name the one with which it failed.
    ///   - patience: How long, for real, to wait for what is no part of the simulation, such as a task or a thread of another
    ///     kind, when nothing in it can go on; and for a thread that has its turn. Then the program ends, and says so.
    ///   - body: What is called; it is given the simulation. It must not wait for other threads by other means than those of
    ///     run loops, such as a semaphore: they do not run meanwhile.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or `SystemError` if there is no room for its loop.
    /// - Precondition: Not called in a simulation.
    ///
    /// > Thread safety: any thread. In asynchronous code it blocks the thread of the task.
    public static func run<Result>(
        seed: UInt64 = 0, patience: Duration = .seconds(60), _ body: (LoopSimulation) throws -> Result
    ) throws -> Result {
        if ThreadDriver.current != nil {
            fatalError("LoopSimulation.run: called in a simulation; use the one that there is")
        }
        let simulation = LoopSimulation(seed: seed, patience: patience)
        return try RunLoop.withAnotherLoop { loop in
            simulation.schedule.begin(loop)
            defer { simulation.schedule.end() }
            return try body(simulation)
        }
    }

    /// What time it is in the simulation.
    ///
    /// It begins with that of `ContinuousClock`, and so do dates that are computed from it. The threads of the simulation find
    /// it in `RunLoop.now`.
    ///
    /// > Thread safety: any thread.
    public var now: ContinuousClock.Instant { schedule.now }

    /// Lets all loops run until none has anything to do at this time.
    ///
    /// Idle work is done: what waits until the loops are idle. The body's loop runs in a mode, the loops of other threads run
    /// as their threads run them. A thread that waits stays where it is until what it waits for has come.
    ///
    /// - Parameter mode: The mode in which the body's loop runs.
    public func settle(in mode: RunLoop.Mode = .default) {
        schedule.requireBody("LoopSimulation.settle")
        schedule.settle(in: mode)
    }

    /// Moves the clock forward, and lets all loops do what is due on the way, in the order of its dates.
    ///
    /// At each date at which a timer is due or a deadline passes the clock stops, until no loop has anything to do at that
    /// time. So every timer without a tolerance fires at its date exactly. One that has a tolerance fires at the end of that,
    /// or with another one that fires before.
    ///
    /// - Parameters:
    ///   - length: How far; not negative.
    ///   - mode: The mode in which the body's loop runs.
    public func advance(by length: Duration, in mode: RunLoop.Mode = .default) {
        schedule.requireBody("LoopSimulation.advance")
        if length < .zero {
            fatalError("LoopSimulation.advance: \(length) is negative; time goes forward only")
        }
        schedule.advance(to: instant(after: length), in: mode)
    }

    /// Moves the clock forward at once, as if the process had been halted meanwhile, and then lets all loops run.
    ///
    /// Timers are late, and fires are missed.
    ///
    /// - Parameters:
    ///   - length: How far; not negative.
    ///   - mode: The mode in which the body's loop runs.
    public func jump(by length: Duration, in mode: RunLoop.Mode = .default) {
        schedule.requireBody("LoopSimulation.jump")
        if length < .zero { fatalError("LoopSimulation.jump: \(length) is negative; time goes forward only") }
        schedule.jump(to: instant(after: length))
        schedule.settle(in: mode)
    }

    /// So much later, or the distant future if that is before.
    private func instant(after length: Duration) -> ContinuousClock.Instant {
        let now = now
        return now + min(length, now.duration(to: .distantFuture))
    }

    /// Lets the body's loop make one pass, in which it does not sleep; other loops may run before it.
    ///
    /// - Parameter mode: The mode.
    /// - Returns: How the run ended: `timedOut`, if there was nothing else.
    @discardableResult
    public func pass(in mode: RunLoop.Mode = .default) -> RunLoop.RunResult {
        schedule.requireBody("LoopSimulation.pass")
        return schedule.pass(in: mode)
    }
}

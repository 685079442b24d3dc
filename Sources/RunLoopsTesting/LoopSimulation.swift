public import RunLoops

/// Runs code that uses run loops on a clock that is moved by hand, one thread at a time, in an order that a seed decides.
///
/// The body is called at once, on the calling thread, which has another loop meanwhile. Every `RunLoopThread` that the body
/// starts, and every one that these threads start, is part of the simulation. Only one of the threads runs at any time. Where
/// a pass of a loop begins or a thread waits, the seed decides which thread goes on: the same seed gives the same order, and
/// another seed gives another order. Time stands still unless the body moves it.
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
/// Call the members in the body, outside of its loop's handlers. ``now`` and ``seed`` can be read anywhere.
///
/// > Thread safety: the body's thread only, except for ``now`` and ``seed``.
public final class LoopSimulation: Sendable {
    /// The number that decides the order in which threads go on.
    public let seed: UInt64

    let schedule: Schedule

    private init(seed: UInt64, patience: Duration) {
        self.seed = seed
        schedule = Schedule(seed: seed, patience: patience)
    }

    /// Calls a body in a simulation of its own.
    ///
    /// In the body `RunLoop.current` is a new loop, on the main thread, too. When the body has returned or thrown, the
    /// simulation ends all of its threads, and then that loop.
    ///
    /// - Parameters:
    ///   - seed: The number that decides the order in which threads go on. Run a test with many seeds, and let a failure name
    ///     its seed.
    ///   - patience: The longest time on the system's clock that the simulation waits for something outside of it, such as a
    ///     task or a thread of another kind, when none of its threads can go on; and the longest turn of a thread. After that
    ///     time the program ends with a message.
    ///   - body: A closure that is given the simulation. It must not wait for other threads by other means than those of run
    ///     loops, such as a semaphore: the other threads do not run meanwhile.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or `SystemError` if the kernel refuses a descriptor for its loop.
    /// - Precondition: Not called in a simulation.
    ///
    /// > Thread safety: any thread. In asynchronous code it blocks the thread of the task.
    public static func run<Result>(
        seed: UInt64 = 0, patience: Duration = .seconds(60), _ body: (LoopSimulation) throws -> Result
    ) throws -> Result {
        if ThreadDriver.current != nil {
            fatalError("LoopSimulation.run: called in a simulation; use the one that the body was given")
        }
        let simulation = LoopSimulation(seed: seed, patience: patience)
        return try RunLoop.withAnotherLoop { loop in
            simulation.schedule.begin(loop)
            defer { simulation.schedule.end() }
            return try body(simulation)
        }
    }

    /// The time in the simulation.
    ///
    /// It begins at the time of `ContinuousClock`. For the threads of the simulation, `RunLoop.now` is this time.
    ///
    /// > Thread safety: any thread.
    public var now: ContinuousClock.Instant { schedule.now }

    /// Lets all loops run until none has anything to do at this time.
    ///
    /// Work that waits until a loop is idle is done, too. The body's loop runs in a mode; each other thread runs its loop as
    /// it likes. A thread that waits stays where it is until its wait is over.
    ///
    /// - Parameter mode: The mode in which the body's loop runs.
    public func settle(in mode: RunLoop.Mode = .default) {
        schedule.requireBody("LoopSimulation.settle")
        schedule.settle(in: mode)
    }

    /// Moves the clock forward from date to date, and lets all loops do at each date what is due then.
    ///
    /// The clock stops at each date at which a timer is due or a deadline passes, until no loop has anything to do at that
    /// time. So every timer without a tolerance fires exactly at its date. A timer with a tolerance fires at the end of its
    /// tolerance, or together with another timer that fires before that.
    ///
    /// - Parameters:
    ///   - length: The time to add; not negative.
    ///   - mode: The mode in which the body's loop runs.
    public func advance(by length: Duration, in mode: RunLoop.Mode = .default) {
        schedule.requireBody("LoopSimulation.advance")
        if length < .zero {
            fatalError("LoopSimulation.advance: \(length) is negative; time goes forward only")
        }
        schedule.advance(to: instant(after: length), in: mode)
    }

    /// Moves the clock forward in one step, as if the process had been halted, and then lets all loops run.
    ///
    /// Timers fire late, and repeating timers miss fires.
    ///
    /// - Parameters:
    ///   - length: The time to add; not negative.
    ///   - mode: The mode in which the body's loop runs.
    public func jump(by length: Duration, in mode: RunLoop.Mode = .default) {
        schedule.requireBody("LoopSimulation.jump")
        if length < .zero { fatalError("LoopSimulation.jump: \(length) is negative; time goes forward only") }
        schedule.jump(to: instant(after: length))
        schedule.settle(in: mode)
    }

    /// The instant after a length of time, or the distant future if that comes first.
    private func instant(after length: Duration) -> ContinuousClock.Instant {
        let now = now
        return now + min(length, now.duration(to: .distantFuture))
    }

    /// Lets the body's loop make one pass, in which it does not sleep.
    ///
    /// Other loops may run before the pass.
    ///
    /// - Parameter mode: The mode in which the body's loop runs.
    /// - Returns: The reason that the run ended: `timedOut`, unless there was another one.
    @discardableResult
    public func pass(in mode: RunLoop.Mode = .default) -> RunLoop.RunResult {
        schedule.requireBody("LoopSimulation.pass")
        return schedule.pass(in: mode)
    }
}

public import RunLoops

/// A simulation in which code with run loops runs in a repeatable order, on a manual clock.
///
/// ``run(seed:timeout:_:)`` calls a body on the calling thread, which has a separate loop during the simulation. Every
/// `RunLoopThread` that the body starts, and every `RunLoopThread` that these threads start, is part of the simulation. Of these
/// threads and the calling thread, only one runs at any time. Whenever a pass of a loop begins or a thread waits, the seed
/// determines which thread continues: the same seed gives the same order, and another seed gives another order. Time passes only
/// where the body moves the clock or waits.
///
/// ```swift
/// try RunLoopSimulation.run(seed: 7) { simulation in
///     var count = 0
///     Timer.scheduledTimer(withTimeInterval: .seconds(3600), repeats: true) { _ in count += 1 }
///     simulation.advance(by: .seconds(86_400))
///     #expect(count == 24)
/// }
/// ```
///
/// Call the members in the body, outside of its loop's handlers. ``now``, ``timeSince1970`` and ``seed`` can be read anywhere.
///
/// > Thread safety: the body's thread only, except for ``now``, ``timeSince1970`` and ``seed``.
public final class RunLoopSimulation: Sendable {
    /// The number that determines the order in which threads run.
    public let seed: UInt64

    let schedule: Schedule

    private init(seed: UInt64, timeout: Duration) {
        self.seed = seed
        schedule = Schedule(seed: seed, timeout: timeout)
    }

    /// Creates a simulation, and calls a body in it.
    ///
    /// In the body, `RunLoop.current` is a new loop, even on the main thread. When the body has returned or thrown, the simulation
    /// ends all of its threads, and then that loop.
    ///
    /// - Parameters:
    ///   - seed: The number that determines the order in which threads run. Run a test with many seeds, and name the seed in the
    ///     message of a failure.
    ///   - timeout: The longest time, on the system's clock, for which the simulation waits when none of its own threads can
    ///     continue. During this time, something outside of the simulation must let a thread continue, for example a task or a
    ///     thread of another kind. The timeout is also the longest time that one thread may run before it gives another thread a
    ///     turn, and for which the loops may have work while the clock stands. If the timeout is exceeded, the program ends with a
    ///     message, which names the date and the handler if a handler always gives its loop more work.
    ///   - body: A closure that is given the simulation. The body must wait for other threads only by means of run loops. If it
    ///     waits in another way, for example with a semaphore, the other threads do not run.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or `SystemError` if the kernel refuses a descriptor for the new loop.
    /// - Precondition: Not called inside another simulation.
    ///
    /// > Thread safety: any thread. In asynchronous code, this blocks the thread of the task.
    public static func run<Result>(
        seed: UInt64 = 0, timeout: Duration = .seconds(60), _ body: (RunLoopSimulation) throws -> Result
    ) throws -> Result {
        if ThreadDriver.current != nil {
            fatalError("RunLoopSimulation.run: called in a simulation; use the one that the body was given")
        }
        let simulation = RunLoopSimulation(seed: seed, timeout: timeout)
        return try RunLoop.withAnotherLoop { loop in
            simulation.schedule.begin(loop)
            defer { simulation.schedule.end() }
            return try body(simulation)
        }
    }

    /// The time in the simulation.
    ///
    /// A simulation begins at the current time of `ContinuousClock`. On the threads of the simulation, `RunLoop.now` is this time.
    ///
    /// > Thread safety: any thread.
    public var now: ContinuousClock.Instant { schedule.now }

    /// The time of the simulation's wall clock, since 1970-01-01 00:00:00 UTC.
    ///
    /// A simulation begins at the present time. The wall clock runs like ``now``, until it is set with
    /// ``setWallClock(timeSince1970:in:)``. On the threads of the simulation, `RunLoop.timeSince1970` is this time.
    ///
    /// > Thread safety: any thread.
    public var timeSince1970: Duration { schedule.timeSince1970 }

    /// Runs all loops until none has anything left to do at the simulation's current time.
    ///
    /// The loops also do the work that is deferred until a loop is idle. The body's loop runs in `mode`. Each of the other threads
    /// runs its loop in the modes that its own code chooses. A blocked thread stays blocked until its wait is over.
    ///
    /// - Parameter mode: The mode in which the body's loop runs.
    public func settle(in mode: RunLoop.Mode = .default) {
        schedule.requireBody("RunLoopSimulation.settle")
        schedule.settle(in: mode)
    }

    /// Moves the clock forward from date to date, and runs all loops at each date.
    ///
    /// The clock stops at each date at which a timer is due or a deadline passes, and stays there until no loop has anything
    /// left to do at that time. So every timer without a tolerance fires exactly at its date. A timer with a tolerance fires at
    /// the end of its tolerance, or together with another timer that fires before that.
    ///
    /// The clock never reaches the distant future, which stands for never.
    ///
    /// - Parameters:
    ///   - length: The time to add; not negative.
    ///   - mode: The mode in which the body's loop runs.
    public func advance(by length: Duration, in mode: RunLoop.Mode = .default) {
        schedule.requireBody("RunLoopSimulation.advance")
        if length < .zero {
            fatalError("RunLoopSimulation.advance: \(length) is negative; time goes forward only")
        }
        schedule.advance(to: instant(after: length), in: mode)
    }

    /// Moves the clock forward in one step, as if the process had been halted, and then runs all loops.
    ///
    /// Timers fire late, and repeating timers miss fires.
    ///
    /// - Parameters:
    ///   - length: The time to add; not negative.
    ///   - mode: The mode in which the body's loop runs.
    public func jump(by length: Duration, in mode: RunLoop.Mode = .default) {
        schedule.requireBody("RunLoopSimulation.jump")
        if length < .zero {
            fatalError("RunLoopSimulation.jump: \(length) is negative; time goes forward only")
        }
        schedule.jump(to: instant(after: length))
        schedule.settle(in: mode)
    }

    /// Sets the wall clock, forward or back, and then runs all loops.
    ///
    /// The clock of ``now`` does not change. Each `WallClockTimer` follows.
    ///
    /// ```swift
    /// simulation.setWallClock(timeSince1970: .seconds(1_800_000_000))
    /// ```
    ///
    /// - Parameters:
    ///   - time: The new time.
    ///   - mode: The mode in which the body's loop runs.
    public func setWallClock(timeSince1970 time: Duration, in mode: RunLoop.Mode = .default) {
        schedule.requireBody("RunLoopSimulation.setWallClock")
        schedule.setWallClock(time)
        schedule.settle(in: mode)
    }

    /// Returns the current time of the simulation plus a length, but a time before the distant future.
    ///
    /// The distant future stands for never: what is suspended until then stays suspended, however far the clock moves.
    private func instant(after length: Duration) -> ContinuousClock.Instant {
        let now = now
        return now + min(length, now.duration(to: .distantFuture) - .nanoseconds(1))
    }

    /// Runs one pass of the body's loop, without sleeping.
    ///
    /// Other loops may run before the pass.
    ///
    /// - Parameter mode: The mode in which the body's loop runs.
    /// - Returns: The reason that the run ended; `timedOut`, unless there was another reason.
    @discardableResult
    public func pass(in mode: RunLoop.Mode = .default) -> RunLoop.RunResult {
        schedule.requireBody("RunLoopSimulation.pass")
        return schedule.pass(in: mode)
    }
}

extension RunLoop {
    /// Runs in the default mode until the loop is stopped, or the mode holds nothing any more.
    ///
    /// Returns at once if there is nothing in the mode. The main thread's loop also serves the main dispatch queue, so its run
    /// goes on until it is stopped: <doc:MainThread>. Unlike Foundation's, this run can be ended with ``stop()``.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    public func run() {
        run(in: .default)
    }

    /// Runs in the default mode until a deadline, until the loop is stopped, or until the mode holds nothing any more.
    ///
    /// If the deadline has passed, the run makes one pass, in which timers that are due fire.
    ///
    /// - Parameter deadline: The time at which the run ends.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    public func run(until deadline: ContinuousClock.Instant) {
        run(in: .default, until: deadline)
    }

    /// Runs in a mode until one source or port has been served, or until a deadline.
    ///
    /// The run finishes the pass in which that happens, so more than one may have been served. Timers and blocks do not end the
    /// run.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; not ``Mode/common``.
    ///   - deadline: The time at which the run ends if nothing was served.
    /// - Returns: False if the run could not begin, because the mode holds nothing. True if it began, with any reason for its
    ///   end: a source, the deadline, a ``stop()``, or a mode that holds nothing any more.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    @discardableResult
    public func run(mode: Mode, before deadline: ContinuousClock.Instant) -> Bool {
        begin(mode, until: deadline, returnsAfterSource: true) != nil
    }

    /// Runs in a mode until a deadline, until the loop is stopped, or until the mode holds nothing any more.
    ///
    /// Each pass takes the same steps in the same order: <doc:OnePass>. A handler may run the loop again, in
    /// this or another mode, to any depth; the inner run returns first, and its deadline is its own.
    ///
    /// ```swift
    /// // Serve the handshake, and nothing else, for at most a second.
    /// let result = loop.run(in: .handshake, until: .now + .seconds(1), returnAfterSourceHandled: true)
    /// ```
    ///
    /// A mode without source, port, timer and waiting block can never become ready: the run returns
    /// ``RunResult/finished`` at once, and observers are not called. Observers do not keep a mode alive. The main
    /// thread's loop serves the main dispatch queue in its common modes, and does not finish in them, except inside a
    /// block of that queue.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; not ``Mode/common``.
    ///   - deadline: The time at which the run ends; nil for never. If it has passed, the run makes one pass.
    ///   - returnAfterSourceHandled: True if the run ends after the first pass in which a source or port was served.
    /// - Returns: The reason for the end of the run. If several reasons hold, it is the first of these: a source was served,
    ///   the deadline has passed, the loop was stopped, the mode holds nothing.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    @discardableResult
    public func run(
        in mode: Mode, until deadline: ContinuousClock.Instant? = nil, returnAfterSourceHandled: Bool = false
    ) -> RunResult {
        begin(mode, until: deadline, returnsAfterSource: returnAfterSourceHandled) ?? .finished
    }

    /// Makes a run.
    ///
    /// - Returns: The reason for its end, or nil if it could not begin.
    private func begin(
        _ mode: Mode, until deadline: ContinuousClock.Instant?, returnsAfterSource: Bool
    ) -> RunResult? {
        let core = core("RunLoop.run", "perform a block on the loop, which runs there, or use RunLoopThread")
        if mode == .common {
            misuse(
                "RunLoop.run: .common is a set of modes, not one to run in; run in .default, or in a mode of the set"
            )
        }
        return core.run(
            LoopCore.Activation(
                mode: mode, deadline: deadline.map { Moment($0) } ?? .never,
                options: returnsAfterSource ? .returnsAfterSource : []))
    }

    /// Runs once in a mode, until a source or port was served or a deadline has passed.
    ///
    /// The same as ``run(mode:before:)``, without a result.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; not ``Mode/common``.
    ///   - deadline: The time at which the run ends if nothing was served.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    public func acceptInput(forMode mode: Mode, before deadline: ContinuousClock.Instant) {
        run(mode: mode, before: deadline)
    }

    /// Makes one pass in a mode without sleeping, and returns the date of its next timer.
    ///
    /// A ``stop()`` that was sent while the loop was not running is for this run, which makes no pass then.
    ///
    /// - Parameter mode: The mode; not ``Mode/common``.
    /// - Returns: The date at which the mode's next timer fires, ``_Concurrency/ContinuousClock/Instant/distantFuture`` if it
    ///   has none, or nil if the mode holds nothing.
    /// - Complexity: O(*n*) for *n* inputs of the loop.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    @_disfavoredOverload
    public func limitDate(forMode mode: Mode) -> ContinuousClock.Instant? {
        let result = run(in: mode, until: .distantPast)
        if result == .finished { return nil }
        let core = core("RunLoop.limitDate", "perform a block on the loop, which runs there")
        return core.nextFire(in: mode)?.instant
    }

    /// Ends the innermost run at the end of its pass, with ``RunResult/stopped``.
    ///
    /// A stop that is sent while the loop runs is for the run that is the innermost one at that moment, and for no other:
    /// - If that run ends for another reason, the stop is discarded. It does not end the next run, nor the outer one.
    /// - If a handler sends a stop and then runs the loop, the inner run goes on, and the outer one ends after it.
    /// - A run is on until its exit observers have returned. A stop from another thread that comes later is for the outer
    ///   run, or for the next one.
    ///
    /// If the loop does not run when a stop is sent, the loop remembers the stop, which ends the next run before its first
    /// pass; any member may make that run. Several stops that are sent before the loop looks count as one.
    ///
    /// The thread of a ``RunLoopThread`` begins another run; ``RunLoopThread/stop()`` ends that.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func stop() {
        Fork.check("RunLoop.stop")
        // At once on the loop's own thread: otherwise this stop could be merged with one of another thread that is still on its
        // way, and end a run that begins in between.
        if let core = coreIfCurrent { core.runs.requests.insert(.stop) } else { handle.request(.stop) }
    }

    /// Makes the loop take a pass, even if there is no work.
    ///
    /// Performing, signalling and sending wake the loop by themselves. Sent while the loop is not running,
    /// it is remembered, and the next run does not sleep in its first pass.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func wakeUp() {
        Fork.check("RunLoop.wakeUp")
        handle.request(.wakeUp)
    }

    /// The mode of the innermost run, or nil while the loop is not running.
    ///
    /// > Thread safety: the loop's own thread only.
    public var currentMode: Mode? {
        core("RunLoop.currentMode", "perform a block on the loop and read it there").members.currentMode
    }

    /// The way in which the loop waits before it sleeps; ``WaitPolicy/adaptive`` at first.
    ///
    /// > Thread safety: the loop's own thread only.
    public var waitPolicy: WaitPolicy {
        get { core("RunLoop.waitPolicy", "perform a block on the loop and read it there").waiting.policy }
        set {
            core("RunLoop.waitPolicy", "perform a block on the loop and set it there").waiting.policy =
                newValue
        }
    }
}

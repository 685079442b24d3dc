extension RunLoop {
    /// Runs in the default mode until the loop is stopped or the mode is empty.
    ///
    /// A mode is empty if it has no source, port, timer or waiting block; the call then returns at once. The main thread's loop
    /// also serves the main dispatch queue, so its run continues until it is stopped: <doc:MainThread>. Unlike in Foundation,
    /// ``stop()`` ends this run.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    public func run() {
        run(in: .default)
    }

    /// Runs in the default mode until a deadline, until the loop is stopped, or until the mode is empty.
    ///
    /// If the deadline has passed, the run makes one pass, in which due timers fire.
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
    /// The run finishes the pass in which it serves the source or port, so it can serve further sources and ports. Timers and
    /// blocks do not end the run.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; not ``Mode/common``.
    ///   - deadline: The time at which the run ends if no source or port was served.
    /// - Returns: False if the run could not begin because the mode is empty. True if the run began, whatever ended it: a source or
    ///   port, the deadline, a ``stop()``, or an empty mode.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    @discardableResult
    public func run(mode: Mode, before deadline: ContinuousClock.Instant) -> Bool {
        begin(mode, until: deadline, returnsAfterSource: true) != nil
    }

    /// Runs in a mode until a deadline, until the loop is stopped, or until the mode is empty.
    ///
    /// Each pass performs the same steps in the same order: <doc:OnePass>. A handler may run the loop again, in this or another
    /// mode, to any depth. The inner run returns first, and has its own deadline.
    ///
    /// ```swift
    /// // Serve the handshake, and nothing else, for at most a second.
    /// let result = loop.run(in: .handshake, until: .now + .seconds(1), returnAfterSourceHandled: true)
    /// ```
    ///
    /// A mode is empty if it has no source, port, timer or waiting block. Observers do not keep a mode alive. If the mode is empty
    /// at the start, the run returns ``RunResult/finished`` at once, and calls no observers. The main thread's loop serves the main
    /// dispatch queue in its common modes, so a run in these modes does not finish, except inside a block of that queue.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; not ``Mode/common``.
    ///   - deadline: The time at which the run ends; nil for never. If it has passed, the run makes one pass.
    ///   - returnAfterSourceHandled: True if the run ends after the first pass that serves a source or port.
    /// - Returns: The reason for the end of the run. If several reasons apply, it is the first of these: a source was served, the
    ///   deadline has passed, the loop was stopped, the mode is empty.
    ///
    /// > Thread safety: the loop's own thread only.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    @discardableResult
    public func run(
        in mode: Mode, until deadline: ContinuousClock.Instant? = nil, returnAfterSourceHandled: Bool = false
    ) -> RunResult {
        begin(mode, until: deadline, returnsAfterSource: returnAfterSourceHandled) ?? .finished
    }

    /// Runs in a mode until the run ends.
    ///
    /// - Returns: The reason for the end of the run, or nil if the run did not begin because the mode is empty.
    private func begin(
        _ mode: Mode, until deadline: ContinuousClock.Instant?, returnsAfterSource: Bool
    ) -> RunResult? {
        let core = core("RunLoop.run", "perform a block on the loop, which runs there, or use RunLoopThread")
        if mode == .common {
            misuse(
                "RunLoop.run: .common is a set of modes, not one to run in; run in .default, or in a mode of the set"
            )
        }
        // An object that is destroyed while hand-overs take effect can run the loop. The rest takes effect before that run.
        if core.members.isTakingHandOvers { core.members.takeHandOvers() }
        return core.run(
            LoopCore.Activation(
                mode: mode, deadline: Moment(ofDeadline: deadline),
                options: returnsAfterSource ? .returnsAfterSource : []))
    }

    /// Makes one pass in a mode without sleeping, and returns the date of the mode's next timer.
    ///
    /// If ``stop()`` was called while the loop was not running, this run ends before its pass.
    ///
    /// - Parameter mode: The mode; not ``Mode/common``.
    /// - Returns: The date at which the mode's next timer fires, ``_Concurrency/ContinuousClock/Instant/distantFuture`` if the mode
    ///   has no timer, or nil if the mode is empty.
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
    /// A stop that is called while the loop runs ends only the run that is innermost at that moment:
    /// - If that run ends for a reason other than the stop, the stop is discarded. It ends neither the next run nor the outer run.
    /// - If a handler calls `stop` and then runs the loop, the inner run continues, and the outer run ends after it.
    /// - A run ends when its exit observers have returned. A later stop from another thread ends the outer run, or the next run.
    ///
    /// If `stop` is called while the loop is not running, the loop stores the stop. The next run then ends before its first pass,
    /// no matter which method begins that run. Several stops count as one if the loop has not acted on the first stop yet.
    ///
    /// The thread of a ``RunLoopThread`` begins another run after a stop; ``RunLoopThread/stop()`` ends the thread.
    ///
    /// In a forked child, where no loop runs, the call does nothing.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func stop() {
        if Fork.isChild { return }
        // On the loop's own thread the stop takes effect at once. If it were sent through the handle instead, it could merge with a
        // stop from another thread that the loop has not received yet. The merged stop could then end a run that begins in between.
        if let core = coreIfCurrent { core.runs.requests.insert(.stop) } else { handle.request(.stop) }
    }

    /// Wakes the loop, so that it makes a pass even if there is no work.
    ///
    /// Performing, signalling and sending wake the loop without this call. If the loop is not running, it stores the wake-up, and
    /// the next run does not sleep in its first pass.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func wakeUp() {
        Fork.check("RunLoop.wakeUp")
        handle.request(.wakeUp)
    }

    /// The mode of the innermost run, or nil while the loop is not running.
    ///
    /// > Thread safety: any thread. On another thread than the loop's, the value can change at any moment.
    public var currentMode: Mode? {
        if let core = coreIfCurrent { core.members.currentMode } else { handle.runningMode.value }
    }

    /// The way in which the loop waits before it sleeps; ``WaitPolicy/adaptive`` by default.
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

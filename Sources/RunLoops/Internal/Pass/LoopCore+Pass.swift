// One pass, and the run that repeats it. The steps of a pass have the names that the article "One pass" uses.
//
// A pass asks every part, and most parts have nothing to do. So each part inlines the look that finds this out, mostly at an
// empty list, and leaves the rest to a function of its own; and no look compares the names of modes. Without that, a hop
// between two sleeping loops took 3,084 instructions instead of 2,199, and one through a port 3,545 instead of 2,688.
// `.ci/instructions` counts them.

extension LoopCore {
    /// The parameters of one run.
    struct Activation {
        let mode: RunLoop.Mode
        /// `never` for none.
        let deadline: Moment
        let options: Options

        /// The ways in which a run differs from one that waits, and serves all that comes.
        struct Options: OptionSet {
            let rawValue: UInt8

            /// The run ends after the pass in which a source was served.
            static let returnsAfterSource = Options(rawValue: 1)
            /// The run is one pass, and does not wait, because another main loop does.
            static let isGuest = Options(rawValue: 2)
            /// Work that waits for the loop to be idle goes on waiting.
            static let leavesIdleWork = Options(rawValue: 4)
        }
    }

    /// Makes passes in one mode until there is a reason to end.
    ///
    /// - Returns: The reason, or nil if the run did not begin: the mode holds nothing.
    func run(_ activation: Activation) -> RunLoop.RunResult? {
        let interrupted = members.handlers.pause()
        defer { members.handlers.resume(interrupted) }
        runs.depth += 1
        defer { runs.depth -= 1 }
        let outerMode = members.currentMode
        changeMode(to: activation.mode)
        defer { changeMode(to: outerMode) }
        readyInputs.runBegins()
        if outerMode == nil { waiting.runBegins() }
        defer { if outerMode == nil { waiting.runEnds() } }

        takeMail()
        // A stop that came while the outer run was the innermost one is for that run, and waits for it here. Without an outer
        // run it was sent while none was on, and is for this one.
        let stopsOuterRun = outerMode != nil && runs.requests.remove(.stop) != nil
        defer { if stopsOuterRun { runs.requests.insert(.stop) } }
        if isFinished && runs.requests.isDisjoint(with: [.stop, .end]) { return nil }

        // After the exit observers: a stop that comes up to here was for this run, whichever way the run ended.
        defer { discardStop() }
        observers.notify(.entry)
        defer { observers.notify(.exit) }
        takeMail()
        if runs.takeStop() { return .stopped }
        now = Moment.now()
        mainQueue.queue?.lookNext()
        while true {
            let handledSource = pass(activation)
            if let result = exitCheck(activation, handledSource: handledSource) { return result }
        }
    }

    private func discardStop() {
        takeMail()
        runs.requests.remove(.stop)
    }

    /// One pass.
    ///
    /// - Returns: True if a source or port was served.
    private func pass(_ activation: Activation) -> Bool {
        handle.counters.passes.add()
        members.handlers.lookAgain()
        var blockBudget = Budget()

        observers.notify(.beforeTimers)
        observers.notify(.beforeSources)
        performBlocks(&blockBudget)
        takeMail()
        var handledSource = readyInputs.serveManualSources()
        if handledSource { performBlocks(&blockBudget) }

        let willSleep = !handledSource && isQuiet(until: activation.deadline)
        // Asked again only where a call comes in between. If other threads send meanwhile, the arming fails.
        let callsAtPassEnd = deferredWork.asksAtPassEnd
        deferredWork.performAtPassEnd()
        if willSleep && (!callsAtPassEnd || isQuiet(until: activation.deadline)) {
            // Known before they are called: an observer may remove itself, and all else that the loop waits for.
            let callsSome = observers.activities.contains(.beforeWaiting) || deferredWork.asksWhenIdle
            observers.notify(.beforeWaiting)
            if !activation.options.contains(.leavesIdleWork) { deferredWork.performWhenIdle() }
            if activation.options.contains(.isGuest) {
                waiting.guestIsIdle = true
                poll(activation)
            } else {
                sleep(until: activation.deadline, afterCalls: callsSome)
            }
            observers.notify(.afterWaiting)
            // The time that the loop slept does not count against the blocks.
            blockBudget = Budget()
        } else {
            poll(activation)
        }

        timers.fire(at: now, in: members)
        if descriptors.serve() { handledSource = true }
        takeMail()
        if readyInputs.servePorts() { handledSource = true }
        if serveMainQueue() { handledSource = true }
        performBlocks(&blockBudget)
        deferredWork.performAtPassEnd()
        return handledSource
    }

    /// Runs the blocks that are there, as far as the budget goes.
    @inline(__always)
    private func performBlocks(_ budget: inout Budget) {
        takeMail()
        blocks.perform(&budget)
    }

    /// Returns the reason for the run to end after this pass, or nil if it goes on.
    ///
    /// The order of the reasons is Core Foundation's.
    @inline(__always)
    private func exitCheck(_ activation: Activation, handledSource: Bool) -> RunLoop.RunResult? {
        // A handler has forked, and has returned in the child.
        Fork.check("RunLoop.run")
        takeMail()
        runs.requests.remove(.wakeUp)
        if handledSource && activation.options.contains(.returnsAfterSource) { return .handledSource }
        if activation.deadline != .never && now >= activation.deadline { return .timedOut }
        if runs.takeStop() { return .stopped }
        if isFinished { return .finished }
        return activation.options.contains(.isGuest) ? .timedOut : nil
    }

    /// True if the current mode can never become ready again, and nothing waits in it.
    var isFinished: Bool {
        @inline(__always) get { members.hasEnded || !members.modeIsAlive && !holdsAnythingButInputs }
    }

    private var holdsAnythingButInputs: Bool {
        @inline(never) get {
            guard let mode = members.currentMode else { return false }
            return holdsAnything(in: mode, isCommon: members.modeIsCommon)
        }
    }

    /// True if a run in this mode would have something to serve or to wait for.
    func holdsAnything(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        // The main loop stands for the main queue.
        if members.modes.isAlive(mode) || isCommon && mainQueue.mayGetBlocks { return true }
        return blocks.holdsBlock(for: mode, isCommon: isCommon)
            || deferredWork.holdsPassEndWork(for: mode, isCommon: isCommon)
    }

    /// True if the current mode has no work before `deadline`.
    func isQuiet(until deadline: Moment) -> Bool {
        takeMail()
        if !runs.requests.isEmpty || !blocks.isEmpty { return false }
        if readyInputs.holdsInput || descriptors.holdsReady { return false }
        if mainQueueIsReady || deferredWork.isReadyAtPassEnd { return false }
        if timers.takeNews() { now = Moment.now() }
        if deadline <= now { return false }
        // A block or an observer of this pass may have removed the last input: then the run ends, and nothing would end a
        // sleep.
        return timers.nextWake > now && !isFinished
    }

    /// Looks at the kernel without sleeping, in a pass that has other work.
    private func poll(_ activation: Activation) {
        Fork.check("RunLoop.run")
        descriptors.watch()
        pollIfNeeded()
        if activation.deadline != .never || !timers.isEmpty { now = Moment.now() }
    }

    /// Looks again at everything that depends on the mode.
    func changeMode(to mode: RunLoop.Mode?) {
        // If the mode is the same, everything was put aside for this very mode: nothing of it is in line again.
        if !members.run(in: mode) { return }
        descriptors.modeDidChange()
        lookAgain()
    }
}

// One pass, and the run that repeats it. The steps of a pass have the names that the article "One pass" uses.

extension LoopCore {
    /// What one run was asked for.
    struct Activation {
        let mode: RunLoop.Mode
        /// `never` for none.
        let deadline: Moment
        let returnsAfterSource: Bool
    }

    /// Makes passes in one mode until there is a reason to end.
    ///
    /// - Returns: The reason, or nil if the run did not begin: the mode holds nothing.
    func run(_ activation: Activation) -> RunLoop.RunResult? {
        let interrupted = pauseHandler()
        defer { resumeHandler(interrupted) }
        depth += 1
        defer { depth -= 1 }
        let outerMode = currentMode
        changeMode(to: activation.mode)
        defer { changeMode(to: outerMode) }
        // A run inside a port's handler goes on with the port's next message.
        for signal in serving { ports.append(signal) }
        if outerMode == nil { waiting.runBegins() }
        defer { if outerMode == nil { waiting.runEnds() } }

        takeMail()
        // A stop that came while the outer run was the innermost one is for that run, and waits for it here. Without an outer
        // run it was sent while none was on, and is for this one.
        let stopsOuterRun = outerMode != nil && requests.remove(.stop) != nil
        defer { if stopsOuterRun { requests.insert(.stop) } }
        if isFinished && requests.isDisjoint(with: [.stop, .end]) { return nil }

        // After the exit observers: a stop that comes up to here was for this run, whatever has ended it.
        defer { discardStop() }
        notifyObservers(.entry)
        defer { notifyObservers(.exit) }
        takeMail()
        if takeStop() { return .stopped }
        now = Moment.now()
        mainQueue?.lookNext()
        while true {
            let handledSource = pass(activation)
            if let result = exitCheck(activation, handledSource: handledSource) { return result }
        }
    }

    private func discardStop() {
        takeMail()
        requests.remove(.stop)
    }

    /// One pass.
    ///
    /// - Returns: Whether a source or port was served.
    private func pass(_ activation: Activation) -> Bool {
        inbox.counters.passes.add()
        notesHandlers = inbox.handlers.isWanted
        var blockBudget = Budget()

        notifyObservers(.beforeTimers)
        notifyObservers(.beforeSources)
        performBlocks(&blockBudget)
        var handledSource = serveManualSources()
        if handledSource { performBlocks(&blockBudget) }

        let willSleep = !handledSource && isQuiet(until: activation.deadline)
        // Asked again only where something is called in between. What other threads send meanwhile fails the arming.
        let callsAtPassEnd = !passEndWork.isEmpty
        performPassEndWork()
        if willSleep && (!callsAtPassEnd || isQuiet(until: activation.deadline)) {
            // Known before they are called: an observer may take itself out, too, and all else that the loop waits for.
            let callsSome = observers.activities.contains(.beforeWaiting) || !idleWork.isEmpty
            notifyObservers(.beforeWaiting)
            performIdleWork()
            sleep(until: activation.deadline, afterCalls: callsSome)
            notifyObservers(.afterWaiting)
            // The time that the loop slept is not the blocks'.
            blockBudget = Budget()
        } else {
            poll(activation)
        }

        fireTimers()
        if serveDescriptors() { handledSource = true }
        if servePorts() { handledSource = true }
        if serveMainQueue() { handledSource = true }
        performBlocks(&blockBudget)
        performPassEndWork()
        return handledSource
    }

    /// Whether the run ends after this pass, and why.
    ///
    /// The order of the reasons is Core Foundation's.
    private func exitCheck(_ activation: Activation, handledSource: Bool) -> RunLoop.RunResult? {
        // A handler has forked, and has returned in the child.
        Fork.check("RunLoop.run")
        takeMail()
        requests.remove(.wakeUp)
        if handledSource && activation.returnsAfterSource { return .handledSource }
        if activation.deadline != .never && now >= activation.deadline { return .timedOut }
        if takeStop() { return .stopped }
        if isFinished { return .finished }
        return nil
    }

    /// Whether the innermost run is to end; asking takes the stop away, but not the end of all runs.
    private func takeStop() -> Bool {
        if requests.contains(.end) { return true }
        return requests.remove(.stop) != nil
    }

    /// Whether the current mode can never become ready again, and nothing waits in it.
    private var isFinished: Bool {
        guard let mode = currentMode, !hasEnded else { return true }
        return !holdsAnything(in: mode, isCommon: modeIsCommon)
    }

    /// Whether a run in this mode would have something to serve or to wait for.
    func holdsAnything(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        // The main loop stands for the main queue, which may always get a block; a run inside one serves no other.
        if modes.isAlive(mode) || isMain && isCommon && mainQueue?.isServing != true { return true }
        return blocks.holdsBlock(for: mode, isCommon: isCommon)
            || passEndWork.contains { $0.holdsWork(for: mode, isCommon: isCommon) }
    }

    /// Whether nothing is there to be done in the current mode before `deadline`.
    func isQuiet(until deadline: Moment) -> Bool {
        guard let mode = currentMode else { return false }
        takeMail()
        if !requests.isEmpty || !blocks.isEmpty { return false }
        if !manualSources.isEmpty && manualSources.holdsInput(in: mode) { return false }
        if !ports.isEmpty && ports.holdsInput(in: mode) { return false }
        if !readyDescriptors.isEmpty && readyDescriptors.contains(where: { $0.membership.contains(mode) }) {
            return false
        }
        if mainQueueIsReady || holdsWork(passEndWork) { return false }
        if deadline <= now { return false }
        // A block or an observer of this pass may have taken the last input out: then the run ends, and a sleep
        // would have nothing to end it.
        return (timers.nextWake ?? .never) > now && !isFinished
    }

    /// Looks at the kernel without sleeping: what a pass does that has other work.
    private func poll(_ activation: Activation) {
        Fork.check("RunLoop.run")
        watchDescriptors()
        if poller.watchCount > 0 || isMainQueueDue() {
            racePoint(.polls)
            poller.poll()
            inbox.counters.kernelCalls.add()
        }
        if activation.deadline != .never || !timers.isEmpty { now = Moment.now() }
    }

    /// Everything that depends on the mode is looked at again.
    private func changeMode(to mode: RunLoop.Mode?) {
        // Asked anew also for the mode of an outer run: it may have become common meanwhile.
        modes.run(in: mode)
        modeIsCommon = mode.map { modes.isCommon($0) } ?? false
        // What was put aside was put aside for this very mode: nothing of it is in line again.
        if currentMode == mode { return }
        currentMode = mode
        lookAgain()
    }

    /// Puts back in line what was put aside for not being in the current mode.
    func lookAgain() {
        blocks.modeDidChange()
        manualSources.modeDidChange()
        ports.modeDidChange()
        while let timer = overdueTimers.last { timer.plan() }
    }
}

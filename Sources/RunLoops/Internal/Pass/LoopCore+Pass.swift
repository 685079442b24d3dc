// One pass, and the run that repeats it. The steps of a pass have the names that the article "One pass" uses.
//
// A pass asks every part for work, and most parts have no work. So each part inlines a check, usually for an empty list, and does
// the work in a separate function. No check compares the names of modes. Without these two rules, a hop between two sleeping loops
// took 3,084 instructions instead of 2,199, and a hop through a port took 3,545 instead of 2,688. `.ci/instructions` counts the
// instructions.

extension LoopCore {
    /// The parameters of one run of the loop.
    struct Activation {
        let mode: Mode
        /// The moment at which the run ends; `never` for no deadline.
        let deadline: Moment
        let options: Options

        /// The options of a run.
        ///
        /// A run without options waits, and serves all work.
        struct Options: OptionSet {
            let rawValue: UInt8

            /// The run ends after a pass that serves a source.
            static let returnsAfterSource = Options(rawValue: 1)
            /// The run is one pass that does not wait, because this loop is a guest.
            ///
            /// Another main loop of the same thread serves the guest, and waits for both loops.
            static let isGuest = Options(rawValue: 2)
            /// The run does no idle work; the work stays in its list for a later run.
            static let leavesIdleWork = Options(rawValue: 4)
        }
    }

    /// Makes passes in one mode until the run has a reason to end.
    ///
    /// - Returns: The reason, or nil if the run did not begin because the mode is empty.
    func run(_ activation: Activation) -> RunLoop.RunResult? {
        if !Recorder.mayRecord { return runUnrecorded(activation) }
        Fork.look("RunLoop.run")
        let slice = Recorder.begin(.run, activation.mode.rawValue)
        let result = runUnrecorded(activation)
        Recorder.end(slice, number: result?.rawValue ?? 0)
        // If a handler has called this run, that handler can go on for a long time after the run. So the recorder must read the
        // clock again before the next handler.
        members.handlers.beginMessages()
        return result
    }

    private func runUnrecorded(_ activation: Activation) -> RunLoop.RunResult? {
        let interrupted = members.handlers.pause()
        defer { members.handlers.resume(interrupted) }
        runs.depth += 1
        defer { runs.depth -= 1 }
        let outerMode = members.currentMode
        changeMode(to: activation.mode)
        defer { changeMode(to: outerMode) }
        readyInputs.runBegins()
        if outerMode == nil { waiting.runBegins() }
        defer {
            if outerMode == nil {
                waiting.runEnds()
                members.handlers.noteIdle()
            }
        }

        takeMail()
        // If there is an outer run, a stop that was sent before this run is for the outer run, so it is set aside here. If there is
        // no outer run, the stop was sent between runs, and is for this run.
        let stopsOuterRun = outerMode != nil && runs.requests.remove(.stop) != nil
        defer { if stopsOuterRun { runs.requests.insert(.stop) } }
        if isFinished && runs.requests.isDisjoint(with: [.stop, .end]) { return nil }

        // A stop is discarded after the exit observers have been called: every stop that was sent until then was for this run, even
        // if the run ended for another reason.
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

    /// Makes one pass: serves all inputs that are ready, and sleeps if there is no work.
    ///
    /// - Returns: True if a source or port was served.
    private func pass(_ activation: Activation) -> Bool {
        handle.counters.passes.add()
        members.handlers.lookAgain()
        members.handlers.noteBusy()
        var blockBudget = Budget()

        observers.notify(.beforeTimers)
        observers.notify(.beforeSources)
        performBlocks(&blockBudget)
        takeMail()
        var handledSource = readyInputs.serveManualSources()
        if handledSource { performBlocks(&blockBudget) }

        let willSleep = !handledSource && isQuiet(until: activation.deadline)
        // The check for work is repeated below only if deferred work is called in between. If other threads send in the meantime,
        // arming the mailbox fails.
        let callsAtPassEnd = deferredWork.asksAtPassEnd
        deferredWork.performAtPassEnd()
        if willSleep && (!callsAtPassEnd || isQuiet(until: activation.deadline)) {
            // This is evaluated before the calls, because an observer can remove itself and every input that the loop waits for.
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
            // The time of the sleep does not count against the budget of the blocks.
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

    /// Runs the queued blocks, as long as the budget lasts.
    @inline(__always)
    private func performBlocks(_ budget: inout Budget) {
        takeMail()
        // What a thread has handed over takes effect before the blocks that it sent afterwards.
        if runs.requests.contains(.handOvers) { takeHandOvers() }
        blocks.perform(&budget)
    }

    /// Returns the reason for the run to end after this pass, or nil if the run continues.
    ///
    /// The order of the reasons is the same as in Core Foundation.
    @inline(__always)
    private func exitCheck(_ activation: Activation, handledSource: Bool) -> RunLoop.RunResult? {
        // Ends the program if a handler has forked and has returned in the child.
        Fork.check("RunLoop.run")
        takeMail()
        runs.requests.remove(.wakeUp)
        if handledSource && activation.options.contains(.returnsAfterSource) { return .handledSource }
        if activation.deadline != .never && now >= activation.deadline { return .timedOut }
        if runs.takeStop() { return .stopped }
        if isFinished { return .finished }
        return activation.options.contains(.isGuest) ? .timedOut : nil
    }

    /// True if no input can ever become ready in the current mode, and no work waits in it.
    var isFinished: Bool {
        @inline(__always) get { members.hasEnded || !members.modeIsAlive && !holdsAnythingButInputs }
    }

    private var holdsAnythingButInputs: Bool {
        @inline(never) get {
            guard let mode = members.currentMode else { return false }
            return holdsAnything(in: mode, isCommon: members.modeIsCommon)
        }
    }

    /// Returns true if a mode is not empty, so that the loop can run in it.
    func holdsAnything(in mode: Mode, isCommon: Bool) -> Bool {
        // The main loop always serves the main queue, which can get blocks at any time.
        if members.modes.isAlive(mode) || isCommon && mainQueue.mayGetBlocks { return true }
        return blocks.holdsBlock(for: mode, isCommon: isCommon)
            || deferredWork.holdsPassEndWork(for: mode, isCommon: isCommon)
    }

    /// Returns true if the loop can sleep: it has no work in the current mode, and the deadline has not passed.
    func isQuiet(until deadline: Moment) -> Bool {
        takeMail()
        if !runs.requests.isEmpty || blocks.holdsNext { return false }
        if readyInputs.holdsInput || descriptors.holdsReady { return false }
        if mainQueueIsReady || deferredWork.isReadyAtPassEnd { return false }
        if timers.takeNews() { now = Moment.now() }
        if deadline <= now { return false }
        // If a block or an observer of this pass has removed the last input, the run must end, because no input would end the
        // sleep.
        return timers.nextWake > now && !isFinished
    }

    /// Polls the kernel without sleeping, in a pass that has other work.
    private func poll(_ activation: Activation) {
        Fork.check("RunLoop.run")
        if runs.requests.contains(.handOvers) { takeHandOvers() }
        descriptors.watch()
        pollIfNeeded()
        if activation.deadline != .never || !timers.isEmpty { now = Moment.now() }
    }

    /// Lets the ends and removals that other threads have handed over take effect.
    ///
    /// A loop with such a request does not sleep, so it comes here in the same pass, before it polls the kernel.
    @inline(never)
    private func takeHandOvers() {
        runs.requests.remove(.handOvers)
        members.takeHandOvers()
    }

    /// Changes the mode in which the loop runs, and updates the parts of the loop that depend on the mode.
    func changeMode(to mode: Mode?) {
        // If the mode stays the same, inputs that were set aside stay set aside.
        if !members.run(in: mode) { return }
        descriptors.modeDidChange()
        lookAgain()
    }
}

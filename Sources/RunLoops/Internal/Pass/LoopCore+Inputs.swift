// What is in which mode.

extension LoopCore {
    /// Adds an input to a mode, or to the common modes.
    ///
    /// - Returns: False if that changed nothing: it is there already, or the thread is ending.
    @discardableResult
    func add(_ input: any LoopInput, to mode: RunLoop.Mode) -> Bool {
        if hasEnded { return false }
        let isNew = input.membership.loop == nil
        if isNew {
            input.membership.loop = self
            input.membership.position = inputs.count
            inputs.append(input)
        }
        let before = input.membership.modes.count
        if mode == .common {
            input.membership.followsCommon = true
            for mode in modes.common { join(input, mode) }
        } else {
            join(input, mode)
        }
        guard input.membership.modes.count > before else { return false }
        if !isNew {
            // It may have been put aside for not being in this mode.
            manualSources.modeDidChange()
            ports.modeDidChange()
        }
        return true
    }

    private func join(_ input: any LoopInput, _ mode: RunLoop.Mode) {
        guard input.membership.join(mode) else { return }
        if input.keepsModeAlive { modes.countInput(in: mode, by: 1) }
    }

    /// Takes an input out of a mode, or out of all modes that are common.
    func remove(_ input: any LoopInput, from mode: RunLoop.Mode) {
        guard input.membership.loop === self else { return }
        if mode == .common {
            input.membership.followsCommon = false
            for mode in modes.common { leave(input, mode) }
        } else {
            leave(input, mode)
        }
        if input.membership.modes.isEmpty && !input.membership.followsCommon { removeFromLoop(input) }
    }

    /// Takes an input out of every mode, and tells it.
    func removeFromLoop(_ input: any LoopInput) {
        guard input.membership.loop === self else { return }
        for mode in input.membership.modes where input.keepsModeAlive { modes.countInput(in: mode, by: -1) }
        let position = input.membership.position
        input.membership = Membership()
        let last = inputs.removeLast()
        if last !== input {
            inputs[position] = last
            last.membership.position = position
        }
        input.didLeave(self)
    }

    private func leave(_ input: any LoopInput, _ mode: RunLoop.Mode) {
        guard input.membership.leave(mode) else { return }
        if input.keepsModeAlive { modes.countInput(in: mode, by: -1) }
    }

    /// Makes a mode common: it gets all that was added to the common modes.
    func addCommonMode(_ mode: RunLoop.Mode) {
        guard modes.addCommon(mode) else { return }
        for input in inputs where input.membership.followsCommon { join(input, mode) }
        if currentMode == mode { modeIsCommon = true }
        // The set of descriptors that the kernel is to watch may have grown.
        watchedMode = nil
        lookAgain()
    }

    /// When the next timer of a mode fires, `never` if it has none, nil if the mode holds nothing.
    func nextFire(in mode: RunLoop.Mode) -> Moment? {
        var next: Moment?
        for case let timer as Timer in inputs where timer.membership.contains(mode) {
            next = min(next ?? .never, timer.date)
        }
        if let next { return next }
        return holdsAnything(in: mode, isCommon: modes.isCommon(mode)) ? .never : nil
    }

    // MARK: - End

    /// The thread ends: nothing is taken in any more, and all that is here is let go.
    ///
    /// What is destroyed may be user code's, which may call the loop again: it finds an ended one.
    func end() {
        racePoint(.ends)
        hasEnded = true
        // While others may still send: what these jobs call elsewhere may come back in time.
        runLastJobs()
        let (mail, _) = inbox.mailbox.close()
        // A handler may have ended the thread, by `pthread_exit`, or another thread by cancelling it: no run has returned.
        waiting.threadEnds()
        for wait in runningWaits { wait.threadHasEnded() }
        runningWaits = []
        // Oldest first, as they would have been served.
        discard(blocks.removeAll())
        discard(mail)
        endDeferredWork()
        while let input = inputs.last { removeFromLoop(input) }
        // Those that came just before the mailbox was closed, and those of tasks that a `deinit` has started.
        runLastJobs()
        manualSources.removeAll()
        ports.removeAll()
        overdueTimers = []
        readyDescriptors.removeAll()
        mainQueue = nil
        racePoint(.hasEnded)
    }

    /// True if something is here, or on its way, that a loop which ends now never serves.
    func holdsSomething() -> Bool {
        takeMail()
        return !inputs.isEmpty || !blocks.isEmpty
    }

    /// Lets go of deferred work, and of what other modules keep with the loop.
    private func endDeferredWork() {
        // Taken out first: what goes with it may be user code's, and may ask the loop for the same again.
        let works = passEndWork + idleWork
        let objects = companions
        passEndWork = []
        idleWork = []
        companions = [:]
        for work in works { work.discardWork() }
        withExtendedLifetime(objects) {}
    }

    /// Destroys messages that will not be served, and keeps the jobs among them.
    private func discard(_ list: NodeList) {
        var nodes = list
        var releaser = NodeReleaser()
        while let node = nodes.popFirst() {
            switch node.kind {
            case .job, .preferredJob: blocks.append(node)
            case .block, .blockInModes:
                _ = node.move(BlockMessage.self)
                releaser.release(node)
            case .parcel, .parcelInModes: node.endParcel(hasArrived: false, &releaser)
            case .signal: _ = Signal.takeRetained(node)
            case .control: break
            }
        }
    }
}

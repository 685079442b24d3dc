// The steps of a pass that are not about waiting.

extension LoopCore {
    func notifyObservers(_ activity: RunLoop.Activity) {
        if observers.activities.isDisjoint(with: activity) { return }
        guard let mode = currentMode else { return }
        // The list is the one of now: an observer that is added meanwhile is called from the next moment on, also if it was
        // removed before.
        for entry in observers.inOrder() {
            guard let observer = entry.observer, observer.addition == entry.number else { continue }
            if observer.activities.contains(activity) && observer.membership.contains(mode) {
                observer.notify(activity, in: self)
            }
        }
    }

    /// Runs the blocks, parcels and jobs for this mode that were there when the step began, as far as the budget goes.
    func performBlocks(_ budget: inout Budget) {
        takeMail()
        if blocks.isEmpty { return }
        // Runs inside a block put the mode back, so it is the same for all of them.
        guard let mode = currentMode else { return }
        let end = blocks.end
        var releaser = NodeReleaser()
        while blocks.examined < end, budget.spend(),
            let node = blocks.next(in: mode, isCommon: modeIsCommon, before: end)
        {
            // Before the call: who has been answered by a block finds it counted.
            inbox.counters.messages.add()
            switch node.kind {
            case .parcel, .parcelInModes:
                callHandler(.delivery, as: .delivery) { node.endParcel(hasArrived: true, &releaser) }
            case .job, .preferredJob:
                let job = node.takeJob(&releaser)
                callHandler(.job, as: .job) { run(job) }
            case .block, .blockInModes:
                let message = node.move(BlockMessage.self)
                releaser.release(node)
                callHandler(message.origin, message.body)
            case .signal, .control: preconditionFailure("a block queue holds blocks, parcels and jobs only")
            }
        }
    }

    /// Serves the manual sources that were signalled when the step began.
    func serveManualSources() -> Bool {
        takeMail()
        var budget = Budget()
        return serve(manualSources, &budget)
    }

    /// Serves the ports that had messages when the step began.
    func servePorts() -> Bool {
        takeMail()
        var budget = Budget()
        return serve(ports, &budget)
    }

    /// Serves the inputs of one step, each once, as far as the budget goes.
    ///
    /// Those that it does not reach stay in front: sent to the back unserved, they would never be reached
    /// behind one that always has more.
    private func serve(_ queue: ReadyQueue, _ budget: inout Budget) -> Bool {
        var handled = false
        var rest = queue.count
        guard rest > 0, let mode = currentMode else { return false }
        while rest > 0, !budget.isSpent, let signal = queue.next(in: mode) {
            rest -= 1
            guard let input = signal.input else { continue }
            let served = input.serve(in: self, &budget)
            if served.calledHandler { handled = true }
            if !served.hasMore { continue }
            if budget.isSpent && !served.calledHandler { queue.prepend(signal) } else { becameReady(signal) }
        }
        return handled
    }

    /// Fires the timers that were due when the step began, in order.
    func fireTimers() {
        if timers.isEmpty { return }
        // Taken out: a run inside a handler makes a list of its own.
        var due: [TimerQueue<Timer>.Fire] = []
        swap(&due, &dueFires)
        timers.collectDue(at: now, into: &due)
        for fire in due {
            // An earlier one of these may have cancelled or postponed it; then it is stale.
            guard let mode = currentMode, let timer = timers.remove(fire) else { continue }
            if timer.membership.contains(mode) {
                inbox.counters.timerFires.add()
                timer.fireAsPlanned(in: self)
            } else {
                timer.becameOverdue(in: self)
            }
        }
        due.removeAll(keepingCapacity: due.count <= 1024)
        swap(&due, &dueFires)
    }

    /// Does what others have left for the end of a pass.
    ///
    /// What is added meanwhile waits for the next time.
    func performPassEndWork() { perform(passEndWork) }

    /// Does what others have left for the moment before a sleep.
    func performIdleWork() { perform(idleWork) }

    private func perform(_ works: [any DeferredWork]) {
        guard !works.isEmpty, let mode = currentMode else { return }
        for work in works {
            callHandler(.deferredWork, as: .deferredWork) {
                work.performWork(for: mode, isCommon: modeIsCommon)
            }
        }
    }

    /// Whether some of these have work for the current mode.
    func holdsWork(_ works: [any DeferredWork]) -> Bool {
        guard !works.isEmpty, let mode = currentMode else { return false }
        return works.contains { $0.holdsWork(for: mode, isCommon: modeIsCommon) }
    }
}

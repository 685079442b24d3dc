internal import DequeModule

extension LibrarySource {
    // MARK: - The library's requests

    /// Ends the program if the source is in the loop of another thread.
    func requireOwnThread(_ member: StaticString) { _ = state.value.loop?.members.requireCurrent(member) }

    /// Schedules the library's changes, so that the loop passes them to the kernel before it next polls.
    func noteChange() {
        guard !state.value.isChanged, let loop = state.value.loop else { return }
        state.value.isChanged = true
        loop.descriptors.noteChange(of: self)
    }

    func setDeadline(_ deadline: ContinuousClock.Instant?) {
        state.value.deadline = deadline.map { Deadline.coming($0).at(Moment.now()) } ?? .none
        if let timer = state.value.timer { keepDates(in: timer) }
        if state.value.deadline.hasPassed { becomeReady() }
    }

    func setKeepsModesAlive(_ keeps: Bool) {
        if keeps == state.value.keepsModesAlive { return }
        state.value.keepsModesAlive = keeps
        state.value.membership.loop?.countAgain(self)
    }

    /// Sets the timer to the deadline or the moment of the next retry, whichever is earlier.
    ///
    /// A deadline that has passed is ignored.
    func keepDates(in timer: Timer) {
        var next = state.value.renewal.retry
        if case .coming(let deadline) = state.value.deadline { next = min(next, Moment(deadline)) }
        timer.keep(next == .never ? nil : next)
    }

    // MARK: - Serving

    /// True if the `service` closure must be called, even if the kernel reports nothing.
    var hasWork: Bool {
        state.value.deadline.hasPassed || state.value.wasRefused || state.value.group.hasRefused
    }

    /// Queues the source to be served.
    ///
    /// While the `service` closure is on the stack, this does nothing. After the call, the source is queued again if it has work,
    /// and the loop watches the set again. While the kernel refuses a new set, this does nothing either, so that one call of the
    /// closure then gets everything.
    func becomeReady() {
        if state.value.service != nil || state.value.watch == nil { return }
        if let signal = state.value.signal { state.value.loop?.readyInputs.becameReady(signal) }
    }

    /// Calls the `service` closure if there is a report, the deadline has passed, or the budget has refused the last call a step.
    ///
    /// A report says that a descriptor is ready, or that the kernel has refused to watch the descriptor.
    func serve(in loop: ReadyInputs, _ signal: ReadyNode, _ budget: inout Budget) -> Served {
        guard state.value.service == nil else { return Served() }
        // A source that another thread has removed from this mode keeps its work for its other modes.
        if !loop.members.admits(self) {
            becomeReady()
            return Served()
        }
        guard let watch = state.value.watch else { return Served() }
        fetch()
        let isDue = state.value.deadline.hasPassed
        if state.value.reports.isEmpty && !hasWork { return Served() }
        if isDue { state.value.deadline = .none }
        state.value.wasRefused = false
        state.value.service = Service(budget: budget, deadlineHasPassed: isDue)
        watch.whileServing { loop.handlers.call(origin, as: .descriptor) { callService() } }
        guard let service = state.value.service.take() else {
            preconditionFailure("a run inside the service does not serve the source")
        }
        budget = service.budget
        // The kernel reports again what the library has left. But it begins with the descriptors that it has not reported yet, so
        // the reports that the library was refused stay here; otherwise a descriptor could be reported and refused again and again.
        if !state.value.wasRefused { state.value.reports.removeAll(keepingCapacity: true) }
        if state.value.renewal.isNeeded { noteChange() }
        // The closure can have removed the source from the loop and added it again, with another node.
        if hasWork { becomeReady() }
        return Served(calledHandler: true)
    }

    /// Fetches the kernel's reports, and schedules a new epoll set if a report is about a descriptor that was closed.
    private func fetch() {
        if state.value.reports.isEmpty { state.value.set?.report(to: &state.value.reports) }
        for report in state.value.reports where !state.value.group.isKnown(report.token) {
            state.value.renewal.isNeeded = true
        }
        if state.value.renewal.isNeeded {
            state.value.reports = state.value.reports.filter { state.value.group.isKnown($0.token) }
            noteChange()
        }
    }

    func takeReport() -> Report? {
        if state.value.service == nil { return nil }
        if state.value.group.hasRefused {
            if !spend() { return nil }
            if let refused = state.value.group.takeRefused() {
                return Report(descriptor: refused, readiness: .error)
            }
        }
        while let report = state.value.reports.first {
            if let (descriptor, interest) = state.value.group.descriptor(of: report.token) {
                let readiness = report.readiness.readiness(of: interest)
                if !readiness.isEmpty {
                    if !spend() { return nil }
                    state.value.reports.removeFirst()
                    return Report(descriptor: descriptor, readiness: readiness)
                }
            }
            state.value.reports.removeFirst()
        }
        return nil
    }

    /// Counts one more step of the `service` closure, such as a call of a handler, if the budget allows it.
    ///
    /// The budget belongs to the step of the pass in which the loop serves this source and the ports. ``nextReport()`` counts a
    /// step for each report. Call this method, inside the closure, before each further step. The first step is always allowed.
    ///
    /// - Returns: False if the budget is spent. In that case, return from the closure without making the step. The loop calls the
    ///   closure again in the next pass, after the inputs that wait already, even if no descriptor is ready.
    package func spend() -> Bool {
        precondition(state.value.service != nil, "only the service spends the budget")
        if state.value.service?.budget.spend() == true { return true }
        state.value.wasRefused = true
        return false
    }
}

extension LibrarySource: KernelChanging {
    func makeChange(in list: LoopDescriptors) {
        state.value.isChanged = false
        // The set is not replaced while the `service` closure is on the stack. If the kernel reports `watch` during that call, the
        // loop stops watching it until the call has returned. The loop would not do this for the descriptor source of a new set, so
        // the kernel would report that source endlessly.
        if state.value.renewal.isNeeded && state.value.renewal.retry == .never && state.value.service == nil {
            renewSet()
        }
        makeChanges()
        if state.value.group.hasRefused { becomeReady() }
    }

    /// Makes the pending changes in the kernel's set.
    private func makeChanges() {
        guard let set = state.value.set else { return }
        while let change = state.value.group.nextChange() {
            var next: DescriptorGroup.Change? = change
            while let change = next { next = state.value.group.note(set.make(change), to: change) }
        }
    }

    /// Closes the epoll set, and makes a new set to which all descriptors are then added.
    ///
    /// The old set is closed first, so that its descriptor is free for the new set. If the kernel refuses the new set, the loop
    /// tries again after a pause. No readiness is lost, because the new set reports every ready descriptor.
    private func renewSet() {
        guard let loop = state.value.loop, let timer = state.value.timer else { return }
        removeSet()
        state.value.group.restore()
        // The reports of the old set are forgotten: the new set makes them again.
        state.value.reports.removeAll(keepingCapacity: true)
        do throws(SystemError) {
            for mode in state.value.membership.modes { try joinWatch(loop, mode) }
            if state.value.membership.followsCommon { try joinWatch(loop, .common) }
            state.value.renewal.isNeeded = false
            state.value.renewal.pause.reset()
            if hasWork { becomeReady() }
        } catch {
            removeSet()
            state.value.renewal.retry = Moment.now().advanced(
                by: state.value.renewal.pause.begin().nanosecondsRoundedUp)
            keepDates(in: timer)
        }
    }

    private func removeSet() {
        state.value.watch.take()?.invalidate()
        state.value.set = nil
    }
}

internal import CLibEvent
internal import DequeModule

extension LibrarySource {
    /// The mutable state of a library source.
    ///
    /// The state is stored without the exclusivity checks of class properties; see ``ExclusivityUnchecked`` for the reason.
    struct State: ~Copyable {
        /// True until the source is invalidated.
        var isValid = true
        /// The epoll set with the library's descriptors; nil after the source was invalidated, and while the kernel refuses a new
        /// set.
        var set: EpollSet?
        /// The descriptor source with which the loop watches `set`; nil before the library source joins its first loop, and while
        /// `set` is nil.
        ///
        /// The descriptor source is in the same modes as `timer`.
        var watch: DescriptorSource?
        /// The timer for the source's deadline; nil before the source joins its first loop.
        ///
        /// The timer is in the same modes as the source.
        var timer: Timer?
        /// The descriptor sources of the loop; nil while the source is in no loop.
        var list: LoopDescriptors?
        /// A reference to the source itself, which keeps the source alive; nil while the source is in no loop.
        var hold: LibrarySource?

        var group = DescriptorGroup()
        /// The kernel's reports that the library has not taken yet; used only while the source is being served.
        var reports: Deque<EpollSet.Report> = []
        /// The number of reports that the present call of the `service` closure can still take.
        var reportsLeft = 0

        var deadline: ContinuousClock.Instant?
        /// True if the deadline has passed and the `service` closure has not been called since.
        var isDue = false
        var deadlineHasPassed = false
        var keepsModesAlive = true
        /// True while the `service` closure is on the stack.
        var isServing = false
        /// True if the source is in the loop's list of inputs with changes to pass to the kernel.
        var isChanged = false
        /// True if the epoll set must be replaced.
        ///
        /// This is the case if the set has reported a descriptor that was closed, or if the kernel has refused to make a new set.
        var needsNewSet = false
        /// The moment at which the loop tries again to make a new epoll set; `never` if no retry is planned.
        var retry = Moment.never
        var pause = ExponentialBackoff.rewatching
    }

    /// The inputs of the source's loop; nil while the source is in no loop.
    var loop: LoopMembers? { state.value.timer?.membership.loop }

    // MARK: - Joining and leaving

    func join(_ list: LoopDescriptors, _ timers: LoopTimers, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isValid, !list.members.hasEnded else { return }
        if let other = loop, other !== list.members {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        if loop == nil || state.value.watch != nil { try joinWatch(list, mode) }
        let timer = state.value.timer ?? makeTimer()
        state.value.timer = timer
        state.value.list = list
        state.value.hold = self
        timer.join(timers, of: list.members, mode)
        if state.value.isDue || state.value.group.hasRefused { becomeReady() }
        if state.value.group.hasChanges || state.value.needsNewSet { noteChange() }
    }

    func leave(_ list: LoopDescriptors, _ mode: RunLoop.Mode) {
        guard state.value.list === list, let timer = state.value.timer else { return }
        if let watch = state.value.watch { list.remove(watch, from: mode) }
        list.members.remove(timer, from: mode)
        if timer.membership.loop == nil { leaveLoop() }
    }

    private func joinWatch(_ list: LoopDescriptors, _ mode: RunLoop.Mode) throws(SystemError) {
        if state.value.set == nil { state.value.set = try EpollSet() }
        guard let set = state.value.set else { preconditionFailure("the set was made") }
        let watch =
            state.value.watch
            ?? DescriptorSource(set: set.descriptor, origin: origin) { [unowned self] in serve() }
        try watch.join(list, mode)
        state.value.watch = watch
    }

    private func makeTimer() -> Timer {
        let timer = Timer(of: self, origin)
        timer.setKeepsModesAlive(state.value.keepsModesAlive)
        keepDates(in: timer)
        return timer
    }

    /// Clears the references between the source and its loop.
    private func leaveLoop() {
        if state.value.isChanged { state.value.list?.forgetChange(of: self) }
        state.value.isChanged = false
        state.value.list = nil
        let hold = state.value.hold
        state.value.hold = nil
        withExtendedLifetime(hold) {}
    }

    /// Releases all objects that the source holds, because the source is invalid.
    func takeApart() {
        let (watch, timer) = (state.value.watch, state.value.timer)
        (state.value.watch, state.value.timer) = (nil, nil)
        watch?.invalidate()
        timer?.invalidate()
        state.value.set = nil
        state.value.group = DescriptorGroup()
        state.value.reports = []
        state.value.deadline = nil
        state.value.deadlineHasPassed = false
        leaveLoop()
    }

    // MARK: - The library's requests

    /// Ends the program if the source is in the loop of another thread.
    func requireOwnThread(_ member: StaticString) {
        // Each change of an interest calls this method. Reading `loop` instead would take two checks of exclusivity.
        _ = state.value.list?.members.requireCurrent(member)
    }

    /// Schedules the library's changes, so that the loop passes them to the kernel before it next polls.
    func noteChange() {
        guard !state.value.isChanged, let list = state.value.list else { return }
        state.value.isChanged = true
        list.noteChange(of: self)
    }

    func setDeadline(_ deadline: ContinuousClock.Instant?) {
        state.value.deadline = deadline
        state.value.isDue = deadline.map { Moment($0) <= Moment.now() } ?? false
        if let timer = state.value.timer { keepDates(in: timer) }
        if state.value.isDue { becomeReady() }
    }

    func setKeepsModesAlive(_ keeps: Bool) {
        state.value.keepsModesAlive = keeps
        state.value.timer?.setKeepsModesAlive(keeps)
    }

    /// Sets the timer to the deadline or the moment of the next retry, whichever is earlier.
    ///
    /// A deadline that has passed is ignored.
    private func keepDates(in timer: Timer) {
        var next = state.value.retry
        if let deadline = state.value.deadline, !state.value.isDue { next = min(next, Moment(deadline)) }
        timer.keep(next == .never ? nil : next)
    }

    /// Queues the source to be served.
    private func becomeReady() { state.value.watch?.becomeReady() }

    // MARK: - Serving

    /// Calls the `service` closure if there is a report, or the deadline has passed.
    ///
    /// A report says that a descriptor is ready, or that the kernel has refused to watch the descriptor.
    ///
    /// - Returns: False if there was no reason to call the closure, or the closure is already on the stack.
    private func serve() -> Bool {
        if state.value.isServing { return false }
        fetch()
        let isDue = state.value.isDue
        if state.value.reports.isEmpty && !isDue && !state.value.group.hasRefused { return false }
        state.value.deadlineHasPassed = isDue
        if isDue {
            state.value.isDue = false
            state.value.deadline = nil
        }
        state.value.reportsLeft = LibrarySource.mostReports
        state.value.isServing = true
        callService()
        state.value.isServing = false
        state.value.deadlineHasPassed = false
        state.value.reports.removeAll(keepingCapacity: true)
        if state.value.group.hasRefused { becomeReady() }
        if state.value.needsNewSet { noteChange() }
        return true
    }

    /// The maximum number of reports that one call of the `service` closure can take.
    private static var mostReports: Int { 64 }

    /// Fetches the kernel's reports, and schedules a new epoll set if a report is about a descriptor that was closed.
    private func fetch() {
        state.value.set?.report(to: &state.value.reports)
        for report in state.value.reports where !state.value.group.isKnown(report.token) {
            state.value.needsNewSet = true
        }
        if state.value.needsNewSet {
            state.value.reports = state.value.reports.filter { state.value.group.isKnown($0.token) }
            noteChange()
        }
    }

    func takeReport() -> Report? {
        guard state.value.isServing, state.value.reportsLeft > 0 else { return nil }
        if state.value.group.hasRefused, let refused = state.value.group.takeRefused() {
            state.value.reportsLeft -= 1
            return Report(descriptor: refused, readiness: .error)
        }
        while let report = state.value.reports.popFirst() {
            guard let (descriptor, interest) = state.value.group.descriptor(of: report.token) else {
                continue
            }
            let readiness = report.readiness.readiness(of: interest)
            if readiness.isEmpty { continue }
            state.value.reportsLeft -= 1
            return Report(descriptor: descriptor, readiness: readiness)
        }
        return nil
    }
}

extension LibrarySource: DatedInput {
    func dateHasCome() {
        let now = Moment.now()
        if now >= state.value.retry {
            state.value.retry = .never
            noteChange()
        }
        if let deadline = state.value.deadline, !state.value.isDue, Moment(deadline) <= now {
            state.value.isDue = true
            becomeReady()
        }
        if let timer = state.value.timer { keepDates(in: timer) }
    }

    func loopHasEnded() { invalidate() }
}

extension LibrarySource: KernelChanging {
    func makeChange(in list: LoopDescriptors) {
        state.value.isChanged = false
        // The set is not replaced while the `service` closure is on the stack. If the kernel reports `watch` during that call, the
        // loop stops watching it until the call has returned. The loop would not do this for the descriptor source of a new set, so
        // the kernel would report that source endlessly.
        if state.value.needsNewSet && state.value.retry == .never && !state.value.isServing {
            renewSet(in: list)
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
    private func renewSet(in list: LoopDescriptors) {
        guard let timer = state.value.timer else { return }
        let watch = state.value.watch
        state.value.watch = nil
        watch?.invalidate()
        state.value.set = nil
        state.value.group.restore()
        do throws(SystemError) {
            for mode in timer.membership.modes { try joinWatch(list, mode) }
            if timer.membership.followsCommon { try joinWatch(list, .common) }
            state.value.needsNewSet = false
            state.value.pause.reset()
            if state.value.isDue { becomeReady() }
        } catch {
            let watch = state.value.watch
            state.value.watch = nil
            watch?.invalidate()
            state.value.set = nil
            state.value.retry = Moment.now().advanced(by: state.value.pause.begin().nanosecondsRoundedUp)
            keepDates(in: timer)
        }
    }
}

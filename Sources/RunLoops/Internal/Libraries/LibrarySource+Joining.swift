internal import DequeModule

extension LibrarySource {
    /// The mutable state of a library source.
    ///
    /// The state is stored without the exclusivity checks of class properties; see ``ExclusivityUnchecked`` for the reason.
    struct State: ~Copyable {
        /// The epoll set with the library's descriptors; nil after the source was invalidated, and while the kernel refuses a new
        /// set.
        var set: EpollSet?
        /// The descriptor source with which the loop watches `set`, in the modes of the source; nil before the source joins its
        /// first loop, and while `set` is nil.
        var watch: DescriptorSource?
        /// The timer for the source's deadline, in the modes of the source; nil before the source joins its first loop.
        var timer: Timer?
        var membership = Membership()
        /// The object that represents the source in the loop's queue of ready inputs; nil while the source is in no loop.
        var signal: ReadyNode?
        /// The loop that the source is in; nil while the source is in no loop.
        var loop: (any LoopParts)?

        var group = DescriptorGroup()
        /// The kernel's reports that the library has not taken yet.
        var reports: Deque<EpollSet.Report> = []
        var deadline = Deadline.none
        /// True if the budget has refused the last call of the `service` closure a step.
        var wasRefused = false
        /// The call of the `service` closure that is on the stack; nil if there is none.
        var service: Service?
        var keepsModesAlive = true
        /// True if the source is in the loop's list of inputs with changes to pass to the kernel.
        var isChanged = false
        var renewal = Renewal()
    }

    /// The time by which the library must be called again.
    enum Deadline {
        case none
        case coming(ContinuousClock.Instant)
        /// The deadline has passed, and the `service` closure has not been called since.
        case passed(ContinuousClock.Instant)

        var instant: ContinuousClock.Instant? {
            switch self {
            case .none: nil
            case .coming(let instant), .passed(let instant): instant
            }
        }

        var hasPassed: Bool { if case .passed = self { true } else { false } }

        /// Returns the deadline as it is at a moment.
        func at(_ now: Moment) -> Deadline {
            if case .coming(let instant) = self, Moment(instant) <= now { .passed(instant) } else { self }
        }
    }

    /// A call of the `service` closure.
    struct Service: ~Copyable {
        /// The budget of the step in which the loop serves the source and the ports.
        var budget: Budget
        let deadlineHasPassed: Bool
    }

    /// The replacement of the epoll set by a new set.
    struct Renewal {
        /// True if the epoll set must be replaced.
        ///
        /// This is the case if the set has reported a descriptor that was closed, or if the kernel has refused to make a new set.
        var isNeeded = false
        /// The moment at which the loop tries again to make a new epoll set; `never` if no retry is planned.
        var retry = Moment.never
        var pause = ExponentialBackoff.rewatching
    }

    // MARK: - Joining and leaving

    func join(_ loop: any LoopParts, _ mode: Mode) throws(SystemError) {
        guard isValid, !loop.members.hasEnded else { return }
        if let other = state.value.loop, other !== loop {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        guard end.join(loop.handle) else { return }
        let isNew = state.value.loop == nil
        if isNew || state.value.watch != nil { try joinWatch(loop, mode) }
        if isNew {
            state.value.loop = loop
            state.value.signal = ReadyNode(handle: loop.handle, input: self)
        }
        loop.readyInputs.add(self, to: mode)
        let timer = state.value.timer ?? makeTimer()
        state.value.timer = timer
        timer.join(loop.timers, of: loop.members, mode)
        if hasWork { becomeReady() }
        if state.value.group.hasChanges || state.value.renewal.isNeeded { noteChange() }
    }

    func leave(_ members: LoopMembers, _ mode: Mode) {
        guard let loop = state.value.loop, loop.members === members else { return }
        if let watch = state.value.watch { loop.descriptors.remove(watch, from: mode) }
        if let timer = state.value.timer { loop.members.remove(timer, from: mode) }
        loop.members.remove(self, from: mode)
    }

    /// Adds the watch of the epoll set to a mode; makes the set and the watch if there are none.
    func joinWatch(_ loop: any LoopParts, _ mode: Mode) throws(SystemError) {
        if state.value.set == nil { state.value.set = try EpollSet() }
        guard let set = state.value.set else { preconditionFailure("the set was made") }
        let watch = state.value.watch ?? makeWatch(of: set)
        try watch.join(loop.descriptors, mode)
        state.value.watch = watch
    }

    private func makeWatch(of set: EpollSet) -> DescriptorSource {
        let watch = DescriptorSource(set.descriptor, interest: .read, watchesSet: true, origin: origin) {
            _, _ in false
        }
        watch.relay = { [unowned self] in becomeReady() }
        return watch
    }

    private func makeTimer() -> Timer {
        let timer = Timer(of: self, origin)
        keepDates(in: timer)
        return timer
    }

    /// Releases all objects that the source holds, because the source is invalid.
    func takeApart() {
        state.value.loop?.members.remove(self)
        let (watch, timer) = (state.value.watch, state.value.timer)
        (state.value.watch, state.value.timer) = (nil, nil)
        watch?.invalidate()
        timer?.invalidate()
        state.value.set = nil
        state.value.group = DescriptorGroup()
        state.value.reports = []
        state.value.deadline = .none
    }
}

extension LibrarySource: SignalledInput {
    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    var keepsModeAlive: Bool { state.value.keepsModesAlive }
    var unservedParts: [Unserved] { keepsModeAlive ? [Unserved("source", madeAt: origin)] : [] }
    var step: SignalledStep { .ports }

    func didLeave(_ loop: LoopMembers) {
        state.value.signal?.input = nil
        state.value.signal = nil
        if state.value.isChanged { state.value.loop?.descriptors.forgetChange(of: self) }
        state.value.isChanged = false
        state.value.loop = nil
        if let watch = state.value.watch { loop.remove(watch) }
        if let timer = state.value.timer { loop.remove(timer) }
        if loop.hasEnded { endHere() }
    }
}

extension LibrarySource: DatedInput {
    func dateHasCome() {
        let now = Moment.now()
        if now >= state.value.renewal.retry {
            state.value.renewal.retry = .never
            noteChange()
        }
        let wasDue = state.value.deadline.hasPassed
        state.value.deadline = state.value.deadline.at(now)
        if state.value.deadline.hasPassed && !wasDue { becomeReady() }
        if let timer = state.value.timer { keepDates(in: timer) }
    }
}

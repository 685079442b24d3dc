// The state of a timer, and its life in a loop.

extension Timer {
    /// The state that only the thread of the timer's loop accesses.
    ///
    /// The type is not copyable, because a copy at an access would retain everything in it.
    ///
    /// `@safe`: the comment on `timers` says why the object exists.
    @safe
    struct State: ~Copyable {
        var membership = Membership()
        /// The handler; nil after the timer's end.
        var handler: Handler?
        /// The timers of the loop that the timer is in; nil while the timer is in no loop.
        ///
        /// It is not retained: the loop's ``LoopMembers`` holds the object, and exists as long as this reference is set.
        /// `membership` holds the ``LoopMembers`` while the timer is in the loop, and the caller of `didLeave` holds it during that
        /// call.
        fileprivate var timers: Unmanaged<LoopTimers>?
        fileprivate var plannedFire: TimerQueue<Timer>.Fire?
        /// The timer's index among its loop's overdue timers; nil if the timer is not one of them.
        fileprivate var overduePosition: Int?
        fileprivate var sequence: UInt64 = 0
        var isFiring = false
        var dateWasSet = false
        fileprivate(set) var missedFireCount = 0

        init(handler: Handler?) { self.handler = handler }
    }

    /// The handler of a timer.
    ///
    /// This is a type of its own because of a wrapper, as ``PortInput/Handler`` is.
    struct Handler {
        let call: (Timer) -> Void
    }

    var membership: Membership {
        @inline(__always) _read { yield state.membership }
        @inline(__always) _modify { yield &state.membership }
    }
}

extension Timer: LoopInput {
    func join(_ timers: LoopTimers, of loop: LoopMembers, _ mode: Mode) {
        guard isValid, !loop.hasEnded else { return }
        if let other = membership.loop, other !== loop {
            misuse("RunLoop.add(timer): the \(self) is in another loop; remove it there first")
        }
        guard end.join(loop.handle) else { return }
        if membership.loop == nil { state.sequence = timers.makeSequence() }
        loop.add(self, to: mode)
        // Safe: `timers` of `State` says why.
        if membership.loop != nil { unsafe state.timers = .passUnretained(timers) }
        plan()
    }

    func didLeave(_ loop: LoopMembers) {
        unplan()
        leaveOverdue()
        unsafe state.timers = nil
        if loop.hasEnded { endHere() }
    }

    /// Adds the next fire to the loop's queue, unless it is in the queue or the handler is running.
    ///
    /// If the handler is running, `callHandler` adds the next fire afterwards.
    func plan() {
        guard let timers = unsafe state.timers else { return }
        leaveOverdue()
        guard state.plannedFire == nil, isValid, !state.isFiring, keepsModeAlive || date != .never else {
            return
        }
        // Safe: the object exists as long as the reference is set.
        state.plannedFire = unsafe timers._withUnsafeGuaranteedRef {
            $0.add(self, date: date, tolerance: toleranceNanoseconds, sequence: state.sequence)
        }
    }

    func unplan() {
        guard let fire = state.plannedFire.take() else { return }
        // Safe: the object exists as long as the reference is set.
        unsafe state.timers?._withUnsafeGuaranteedRef { $0.cancel(fire) }
    }

    func replan() {
        guard state.plannedFire != nil else { return }
        unplan()
        plan()
    }

    /// Stores the timer's index in the loop's list of overdue timers.
    ///
    /// A timer is overdue if it became due while the loop ran in a mode that the timer is not in. At that moment, the loop's queue
    /// removed the timer's planned fire.
    func becomeOverdue(_ position: Int) {
        state.plannedFire = nil
        state.overduePosition = position
    }

    private func leaveOverdue() {
        guard let position = state.overduePosition.take() else { return }
        // Safe: the object exists as long as the reference is set.
        unsafe state.timers?._withUnsafeGuaranteedRef { $0.removeOverdue(at: position) }
    }

    /// Sets the date at which the timer calls its input; nil for no date.
    func keep(_ moment: Moment?) {
        unplan()
        date = moment ?? .never
        plan()
    }

    /// Performs a planned fire, which the loop's queue has already removed, and plans the next fire.
    func fireAsPlanned(in loop: LoopMembers) {
        state.plannedFire = nil
        if let dated = unsafe dated {
            date = .never
            return dated.dateHasCome()
        }
        guard loop.admits(self) else { return plan() }
        loop.handle.counters.timerFires.add()
        callHandler(loop.handlers, planned: date)
    }

    /// Calls the handler, then plans the next fire or ends the timer.
    ///
    /// - Parameters:
    ///   - handlers: The handlers of the loop that the timer is in; nil if the timer is in no loop.
    ///   - planned: The date of the planned fire, from which a repeating timer computes its next date; nil for a call of `fire()`.
    func callHandler(_ handlers: HandlerCaller?, planned: Moment? = nil) {
        guard let handler = state.handler else { return }
        state.isFiring = true
        if let handlers {
            handlers.callForTimer(origin, dueAt: planned) { handler.call(self) }
        } else {
            handler.call(self)
        }
        state.isFiring = false
        if interval == 0 && !state.dateWasSet { return endAnywhere() }
        if let planned, isValid, !state.dateWasSet {
            let next = FireGrid.next(after: planned, interval: interval, now: Moment.now())
            date = next.date
            state.missedFireCount += next.missed
        }
        state.dateWasSet = false
        plan()
    }
}

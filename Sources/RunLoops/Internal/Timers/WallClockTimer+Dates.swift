extension WallClockTimer {
    /// The longest correction of the clock that repeats no date.
    private static var longestCorrection: Duration { .seconds(3600) }

    /// Asks for the next date, and plans the fire; without a date, the timer ends.
    func setNextDate() {
        guard let nextDate else { return invalidate() }
        var time = WallClock.now
        if let lastDate, lastDate > time, lastDate - time < WallClockTimer.longestCorrection {
            time = lastDate
        }
        let next = nextDate(time)
        guard isValid else { return }
        guard let date = next?.roundedUpToMicroseconds else { return invalidate() }
        if date <= time {
            misuse(
                "WallClockTimer: the closure of the \(self) returned \(date), which is not after \(time); return a later date, or nil to end the timer"
            )
        }
        fireDate = date
        plan()
    }

    /// Sets the loop's timer to the moment at which the wall clock reaches the date, if it is not set.
    func plan() {
        guard isValid, !isFiring, let fireDate else { return }
        // The wall clock is read first: in the other order, the moment would be early by the time between the two.
        let left = (fireDate - WallClock.now).nanosecondsRoundedUp
        timer?.keep(Moment.now().advanced(by: left))
    }

    /// Follows the clock, which was set.
    private func clockWasSet() {
        guard !isFiring, let fireDate else { return }
        if nextDate == nil || fireDate <= WallClock.now { plan() } else { setNextDate() }
    }

    private func fire(_ date: Duration, now: Duration, in loop: LoopMembers) {
        guard let handler else { return }
        fireDate = nil
        lastDate = date
        isFiring = true
        loop.handle.counters.timerFires.add()
        let late = (now - date).nanosecondsRoundedUp
        loop.handlers.callForTimer(origin, dueAt: Moment.now().advanced(by: -late)) {
            handler(self)
            isFiring = false
            if isValid { setNextDate() }
        }
    }
}

extension WallClockTimer: DatedInput {
    func dateHasCome() {
        guard let loop = watch?.membership.loop, let date = fireDate, isAdmitted else { return plan() }
        let now = WallClock.now
        // The clock was set back, and the descriptor that tells it comes later in the pass.
        if now < date { return plan() }
        withExtendedLifetime(self) { fire(date, now: now, in: loop) }
    }
}

extension WallClockTimer: DescriptorBacked {
    package func giveBack(inForkedChild isChild: Bool) {
        let (left, released) = (watch, (handler, nextDate))
        watch = nil
        handler = nil
        nextDate = nil
        fireDate = nil
        if !isChild {
            // The loop can hold the last reference to this timer, through the watch.
            withExtendedLifetime(self) {
                timer?.invalidate()
                left?.invalidate()
            }
        }
        clock = nil
        // Released last, when all state is consistent: an object that they hold can call the timer when it is destroyed.
        withExtendedLifetime(released) {}
    }

    func makeWatch() -> DescriptorSource {
        guard let clock else { preconditionFailure("a timer that joins a loop watches the clock") }
        return DescriptorSource(clock.descriptor, interest: .read, origin: origin) { [self] _, _ in
            guard isAdmitted else { return false }
            clock.takeReport()
            clockWasSet()
            return true
        }
    }

    func leave(_ loop: LoopMembers, _ mode: Mode) {
        guard let leaving = watch else { return }
        leaving.leave(loop, mode)
        if let timer { loop.remove(timer, from: mode) }
        if leaving.membership.loop == nil { watch = nil }
    }
}

extension Duration {
    /// The time since 1970, rounded up to a whole microsecond.
    ///
    /// A date that was computed with a `Double`, such as the one in a `Date` of Foundation, can be some hundred nanoseconds early.
    /// A timer that fires then would ask for the next date too early, and get the same date again.
    var roundedUpToMicroseconds: Duration {
        let (whole, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000)
        return Duration(attoseconds: (fraction > 0 ? whole + 1 : whole) * 1_000_000_000_000)
    }
}

/// The timers of one loop that wait for their dates.
///
/// This object owns the planned fires, and the list of overdue timers, which became due while the loop ran in a mode that does not
/// contain them.
///
/// > Thread safety: the loop's own thread only.
final class LoopTimers: WakeDates {
    private struct Plan: ~Copyable {
        var queue = TimerQueue<Timer>()
        /// The planned fires that are due in the current pass.
        ///
        /// Between passes the list is empty, but keeps its capacity.
        var due: [TimerQueue<Timer>.Fire] = []
        /// True if a fire was planned since the last call of ``takeNews()``.
        var hasNews = false
    }

    /// The planned fires.
    ///
    /// They are stored without exclusivity checks because each pass reads them; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var plan = Plan()

    /// The timers that became due while the loop ran in a mode that does not contain them, in no particular order.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private(set) var overdue: [Timer] = []

    /// True if no fire is planned.
    var isEmpty: Bool { @inline(__always) get { plan.queue.isEmpty } }

    /// The number of planned fires.
    var count: Int { plan.queue.count }

    /// The latest moment at which the loop can wake without exceeding the tolerance of any timer; `never` if no fire is planned.
    var nextWake: Moment {
        @inline(__always) get { isEmpty ? .never : plan.queue.nextWake ?? .never }
    }

    // MARK: - The pass's side

    /// Returns true if a fire was planned since the last call.
    ///
    /// If the result is true, the pass must read the clock again. The pass reads the clock when it polls the kernel, and then calls
    /// handlers. A handler can plan a fire for a date between that reading and now. By the old reading, that fire would not be due.
    @inline(__always)
    func takeNews() -> Bool {
        if !plan.hasNews { return false }
        plan.hasNews = false
        return true
    }

    /// Fires the timers that are due when this step of the pass begins, in the order of their dates.
    ///
    /// - Parameters:
    ///   - now: The current moment.
    ///   - members: The inputs of the loop.
    @inline(__always)
    func fire(at now: Moment, in members: LoopMembers) { if !isEmpty { fireDue(at: now, in: members) } }

    private func fireDue(at now: Moment, in members: LoopMembers) {
        // The list is taken out of `plan`, because a run inside a handler makes its own list.
        var due: [TimerQueue<Timer>.Fire] = []
        swap(&due, &plan.due)
        plan.queue.collectDue(at: now, into: &due)
        for fire in due {
            // If the handler of an earlier fire in this list has cancelled or postponed this fire, this fire is stale.
            guard let mode = members.currentMode, let timer = plan.queue.remove(fire) else { continue }
            if timer.membership.contains(mode) {
                timer.fireAsPlanned(in: members)
            } else {
                timer.becomeOverdue(overdue.count)
                overdue.append(timer)
            }
        }
        due.removeAll(keepingCapacity: due.count <= 1024)
        swap(&due, &plan.due)
    }

    /// Plans the overdue timers again, because the current mode or the set of common modes has changed.
    func modesDidChange() { while let timer = overdue.last { timer.plan() } }

    /// Clears the list of overdue timers, because the loop has ended.
    func end() { overdue = [] }

    // MARK: - The timer's side

    /// Returns the next sequence number, which makes a new timer fire after all earlier timers with the same date.
    func makeSequence() -> UInt64 { plan.queue.makeSequence() }

    /// Plans a fire of a timer.
    ///
    /// - Returns: The fire, for ``cancel(_:)``.
    func add(
        _ timer: Timer, date: Moment, tolerance: Int64, sequence: UInt64
    ) -> TimerQueue<Timer>.Fire {
        plan.hasNews = true
        return plan.queue.add(timer, date: date, tolerance: tolerance, sequence: sequence)
    }

    /// Removes a planned fire, unless it was already removed.
    func cancel(_ fire: TimerQueue<Timer>.Fire) { plan.queue.remove(fire) }

    /// Removes the overdue timer at a position, and moves the last overdue timer there.
    func removeOverdue(at position: Int) {
        overdue.swapRemove(at: position)
        if position < overdue.count { overdue[position].becomeOverdue(position) }
    }
}

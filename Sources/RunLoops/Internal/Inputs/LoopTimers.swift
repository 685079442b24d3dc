/// The timers of one loop that wait for their dates.
///
/// It owns the planned fires, and the list of timers that came due while a mode ran that they are not in.
///
/// > Thread safety: the loop's own thread only.
final class LoopTimers {
    private struct Plan {
        var queue = TimerQueue<Timer>()
        /// Empty, with room: the list of the fires that are due in one pass.
        var due: [TimerQueue<Timer>.Fire] = []
        /// A fire was planned since the last ``takeNews()``.
        var hasNews = false
    }

    /// Looked at in each pass: without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    private let plan = ExclusivityUnchecked(Plan())

    /// Timers that came due while a mode ran that they are not in, in no order.
    private(set) var overdue: [Timer] = []

    /// True if no fire is planned.
    var isEmpty: Bool { @inline(__always) get { plan.value.queue.isEmpty } }

    /// The number of planned fires.
    var count: Int { plan.value.queue.count }

    /// The latest moment to wake at so that no timer fires later than it may; `never` if no fire is planned.
    var nextWake: Moment {
        @inline(__always) get { isEmpty ? .never : plan.value.queue.nextWake ?? .never }
    }

    // MARK: - The pass's side

    /// True if a fire was planned since the last call, at a date that the pass's clock may be too old for.
    ///
    /// The pass reads the clock when it asks the kernel. A handler that runs later may plan a fire at a date that has passed
    /// by then, and that is later than the reading.
    @inline(__always)
    func takeNews() -> Bool {
        if !plan.value.hasNews { return false }
        plan.value.hasNews = false
        return true
    }

    /// Fires the timers that were due when the step began, in order.
    ///
    /// - Parameters:
    ///   - now: The moment.
    ///   - members: The inputs of the loop.
    @inline(__always)
    func fire(at now: Moment, in members: LoopMembers) { if !isEmpty { fireDue(at: now, in: members) } }

    private func fireDue(at now: Moment, in members: LoopMembers) {
        // Taken out: a run inside a handler makes a list of its own.
        var due: [TimerQueue<Timer>.Fire] = []
        swap(&due, &plan.value.due)
        plan.value.queue.collectDue(at: now, into: &due)
        for fire in due {
            // An earlier one of these may have cancelled or postponed it; then it is stale.
            guard let mode = members.currentMode, let timer = plan.value.queue.remove(fire) else { continue }
            if timer.membership.contains(mode) {
                timer.fireAsPlanned(in: members)
            } else {
                timer.becomeOverdue(overdue.count)
                overdue.append(timer)
            }
        }
        due.removeAll(keepingCapacity: due.count <= 1024)
        swap(&due, &plan.value.due)
    }

    /// Plans the timers again that came due in other modes: another mode runs, or the common modes are others.
    func modesDidChange() { while let timer = overdue.last { timer.plan() } }

    /// Forgets the overdue timers: the loop has ended.
    func end() { overdue = [] }

    // MARK: - The timer's side

    /// Returns a number that orders a new timer after all before it.
    func makeSequence() -> UInt64 { plan.value.queue.makeSequence() }

    /// Plans a fire of a timer.
    ///
    /// - Returns: The fire, for ``cancel(_:)``.
    func add(
        _ timer: Timer, date: Moment, tolerance: Int64, sequence: UInt64
    ) -> TimerQueue<Timer>.Fire {
        plan.value.hasNews = true
        return plan.value.queue.add(timer, date: date, tolerance: tolerance, sequence: sequence)
    }

    /// Takes a planned fire out, unless it is stale.
    func cancel(_ fire: TimerQueue<Timer>.Fire) { plan.value.queue.remove(fire) }

    /// Takes a timer out of the overdue ones, where the last one gets its place.
    func removeOverdue(at position: Int) {
        overdue.swapRemove(at: position)
        if position < overdue.count { overdue[position].becomeOverdue(position) }
    }
}

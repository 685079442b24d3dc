#if NIO
    internal import DequeModule
    internal import NIOCore
    internal import RunLoops

    /// The tasks of an event loop: those that run as soon as possible, and those that run at a deadline.
    ///
    /// > Thread safety: the loop's thread only, except for ``inbox``.
    final class TaskTurn: EventLoopTurn {
        /// The maximum number of tasks of either kind in one turn.
        private static var mostTasks: Int { 32 }

        let inbox: TaskInbox
        var isQueued = false
        /// The tasks that were taken out of the inbox and have not run yet.
        private var taken = Deque<TaskInbox.Task>()
        private var scheduled = ScheduledTasks()
        /// The timer of the run loop that fires at the earliest deadline.
        private let timer: Timer
        /// The deadline for which the timer is set; nil if it is not set.
        ///
        /// This can be earlier than every deadline, because a cancelled task does not change the timer.
        private var armedFor: NIODeadline?
        /// True if a task can be due.
        private var mayBeDue = false
        /// True if the next turn begins with the inbox.
        private var inboxIsNext = false
        private unowned let core: EventLoopCore

        /// Makes the tasks of an event loop.
        ///
        /// - Parameters:
        ///   - core: The event loop, which holds this object.
        ///   - inbox: The inbox.
        init(_ core: EventLoopCore, _ inbox: TaskInbox) {
            self.core = core
            self.inbox = inbox
            var fire: () -> Void = {}
            timer = Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { timer in
                // If the date were not changed, the timer would become invalid now, because it does not repeat.
                timer.fireDate = .distantFuture
                fire()
            }
            // Safe: the event loop invalidates the timer before this object is destroyed.
            fire = { [unowned self] in
                armedFor = nil
                isDue()
            }
        }

        func join(_ loop: RunLoop, _ modes: [RunLoop.Mode]) {
            for mode in modes { loop.add(timer, forMode: mode) }
        }

        private func isDue() {
            mayBeDue = true
            core.enqueue(self)
        }

        // MARK: - Deadlines

        /// Schedules a task; the caller has checked that the event loop has not ended.
        func schedule(_ task: ScheduledTask) {
            // Another thread can have cancelled the task before it arrived here.
            if task.isOver { return }
            scheduled.insert(task)
            if scheduled.first === task { arm(task.deadline) }
        }

        func cancel(_ task: ScheduledTask) {
            scheduled.remove(task)
            task.cancel()
        }

        private func arm(_ deadline: NIODeadline) {
            if mayBeDue { return }
            if let armedFor, armedFor <= deadline { return }
            // NIO's clock stands still while the machine sleeps, and the run loop's clock goes on. So only the distance is carried over.
            // After such a sleep the timer fires too early, and is armed again.
            let distance = deadline - .now()
            if distance <= .zero { return isDue() }
            armedFor = deadline
            timer.fireDate = .now + .nanoseconds(distance.nanoseconds)
        }

        // MARK: - Turns

        func takeTurn(_ budget: inout Budget) -> TurnOutcome {
            let hadTasks = !taken.isEmpty
            if inboxIsNext {
                inboxIsNext = false
                runTaken(&budget)
                if mayBeDue { _ = runDue(&budget) }
            } else if mayBeDue && !runDue(&budget) {
                // The due tasks have spent the budget. If they did so in every pass, the inbox would never have its turn.
                inboxIsNext = true
                return .unfinished
            } else {
                runTaken(&budget)
            }
            // If the turn has run tasks of an earlier look into the inbox, a ring has possibly found the turn queued already, so the
            // next turn must look.
            return mayBeDue || !taken.isEmpty || hadTasks ? .unfinished : .finished
        }

        /// Runs tasks of the inbox.
        private func runTaken(_ budget: inout Budget) {
            if taken.isEmpty { taken = inbox.take() }
            for _ in 0..<TaskTurn.mostTasks where !taken.isEmpty {
                if !budget.spend() { break }
                taken.removeFirst()()
            }
        }

        /// Runs tasks whose deadlines have passed.
        ///
        /// - Returns: False if the budget is spent.
        private func runDue(_ budget: inout Budget) -> Bool {
            // The time is read once, so that a task that schedules itself again without a delay does not keep others from running.
            let now = NIODeadline.now()
            for _ in 0..<TaskTurn.mostTasks {
                guard let first = scheduled.first, first.deadline <= now else { break }
                if !budget.spend() { return false }
                scheduled.remove(first)
                first.run()
            }
            mayBeDue = false
            if let first = scheduled.first { arm(first.deadline) }
            return true
        }

        // MARK: - The end

        /// Fails the tasks that wait for their deadlines.
        func failScheduled(_ error: any Error) {
            for task in scheduled.removeAll() { task.fail(error) }
        }

        /// Runs all tasks of the inbox, and those that they add, but no more than a bounded number of times, because a task can add itself
        /// for ever.
        func drain() {
            for _ in 0..<1_000 {
                if taken.isEmpty { taken = inbox.take() }
                if taken.isEmpty { return }
                while !taken.isEmpty { taken.removeFirst()() }
            }
        }

        /// Closes the inbox, and runs the tasks that are left in it.
        func close() {
            timer.invalidate()
            taken.append(contentsOf: inbox.close())
            while !taken.isEmpty { taken.removeFirst()() }
        }

        /// The number of tasks that wait for their turn, and the number that wait for their deadlines.
        var counts: (waiting: Int, scheduled: Int) { (taken.count + inbox.count, scheduled.count) }
    }
#endif

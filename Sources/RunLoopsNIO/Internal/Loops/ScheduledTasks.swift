#if NIO
    internal import NIOCore

    /// The tasks of an event loop that run at a deadline.
    ///
    /// Tasks with the same deadline are in the order in which they were scheduled. The tasks are kept in a binary heap. Each task knows
    /// its index, so that a cancelled task leaves at once, and with it everything that its closure holds.
    struct ScheduledTasks: ~Copyable {
        private var heap: [ScheduledTask] = []
        private var nextNumber: UInt64 = 0

        /// The task with the earliest deadline.
        var first: ScheduledTask? { heap.first }

        var count: Int { heap.count }

        mutating func insert(_ task: ScheduledTask) {
            task.number = nextNumber
            nextNumber += 1
            task.index = heap.count
            heap.append(task)
            moveUp(task.index)
        }

        /// Removes a task; does nothing if the task is not scheduled.
        mutating func remove(_ task: ScheduledTask) {
            let index = task.index
            guard index >= 0 else { return }
            task.index = -1
            let last = heap.removeLast()
            if last === task { return }
            heap[index] = last
            last.index = index
            moveUp(index)
            moveDown(last.index)
        }

        /// Removes all tasks, and returns them in the order of their deadlines.
        mutating func removeAll() -> [ScheduledTask] {
            let all = heap.sorted { $0.isBefore($1) }
            heap = []
            for task in all { task.index = -1 }
            return all
        }

        private mutating func moveUp(_ start: Int) {
            var index = start
            while index > 0 {
                let parent = (index - 1) / 2
                if !heap[index].isBefore(heap[parent]) { return }
                exchange(index, parent)
                index = parent
            }
        }

        private mutating func moveDown(_ start: Int) {
            var index = start
            while true {
                var earliest = index
                for child in [2 * index + 1, 2 * index + 2]
                where child < heap.count && heap[child].isBefore(heap[earliest]) { earliest = child }
                if earliest == index { return }
                exchange(index, earliest)
                index = earliest
            }
        }

        private mutating func exchange(_ one: Int, _ other: Int) {
            heap.swapAt(one, other)
            heap[one].index = one
            heap[other].index = other
        }
    }

    /// A task that runs at a deadline.
    ///
    /// `@unchecked Sendable`: any thread creates a task and passes it to the loop's thread, and only that thread uses the variables.
    final class ScheduledTask: @unchecked Sendable {
        let deadline: NIODeadline
        /// The position of the task among all that were scheduled.
        fileprivate(set) var number: UInt64 = 0
        /// The index in the heap; -1 if the task is not scheduled.
        fileprivate(set) var index = -1
        /// Runs the task, or fails its promise with an error; nil after one of both, or after the task was cancelled.
        private var body: (((any Error)?) -> Void)?

        init(_ deadline: NIODeadline, _ body: @escaping ((any Error)?) -> Void) {
            self.deadline = deadline
            self.body = body
        }

        func run() { take()?(nil) }

        func fail(_ error: any Error) { take()?(error) }

        /// Releases the closure; its promise was failed already.
        func cancel() { withExtendedLifetime(take()) {} }

        /// True if the task was run, failed or cancelled.
        var isOver: Bool { body == nil }

        private func take() -> (((any Error)?) -> Void)? { body.take() }

        func isBefore(_ other: ScheduledTask) -> Bool {
            deadline == other.deadline ? number < other.number : deadline < other.deadline
        }
    }
#endif

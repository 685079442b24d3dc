#if NIO
    internal import DequeModule
    internal import RunLoops

    /// The tasks that threads have given to one event loop, and that the loop has not taken yet.
    ///
    /// > Thread safety: any thread.
    final class TaskInbox: Sendable {
        typealias Task = @Sendable () -> Void

        /// The outcome of giving a task to the event loop.
        enum Admission {
            /// The inbox was empty, so the caller must make the event loop look into it.
            case first
            /// An earlier caller makes the event loop look into the inbox.
            case further
            /// The event loop has ended; the task was not taken.
            case refused
        }

        private struct Contents {
            var tasks = Deque<Task>()
            var isClosed = false
            var hasReportedRefusal = false
        }

        private let contents = Guarded(Contents())

        func append(_ task: @escaping Task) -> Admission {
            contents.withLock { contents in
                if contents.isClosed { return .refused }
                contents.tasks.append(task)
                return contents.tasks.count == 1 ? .first : .further
            }
        }

        /// Takes all tasks, in the order in which they came.
        func take() -> Deque<Task> { contents.withLock { exchange(&$0.tasks, with: []) } }

        /// Refuses all further tasks, and returns those that have not been taken.
        func close() -> Deque<Task> {
            contents.withLock { contents in
                contents.isClosed = true
                return exchange(&contents.tasks, with: [])
            }
        }

        /// True if the inbox is closed.
        var isClosed: Bool { contents.withLock { $0.isClosed } }

        /// The number of tasks that the event loop has not taken.
        var count: Int { contents.withLock { $0.tasks.count } }

        /// Returns true at the first call, so that the refusal of tasks is reported once.
        func reportsRefusal() -> Bool { contents.withLock { !exchange(&$0.hasReportedRefusal, with: true) } }
    }
#endif

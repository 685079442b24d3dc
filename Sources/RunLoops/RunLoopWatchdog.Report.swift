extension RunLoopWatchdog {
    /// A handler that blocks its loop, as the watchdog's thread sees it.
    ///
    /// > Thread safety: a value.
    public struct Report: Sendable {
        /// The state of a call, as the watchdog has seen it.
        ///
        /// > Thread safety: a value.
        public enum Phase: Hashable, Sendable {
            /// The call has lasted longer than the threshold, and goes on.
            case blocked
            /// The call has lasted at least twice as long as at the previous report, and goes on.
            case stillBlocked
            /// The call has returned, or has begun to run the loop.
            case ended
        }

        /// The loop.
        public let loop: RunLoop
        /// The system's ID of the loop's thread, which debuggers and `top -H` show.
        public let threadID: Int32
        /// The kind of the handler.
        public let handler: RunLoop.HandlerKind
        /// The place where the block, timer, source, port or observer was made: file identifier and line.
        ///
        /// If the place is not known, as for jobs of Swift concurrency, the text is a word for the kind of call.
        public let madeAt: String
        /// The state of the call.
        public let phase: Phase
        /// The time for which the watchdog has seen the call, which lasts, or has lasted, at least that long.
        ///
        /// Time for which the whole process was halted, or the machine asleep, does not count.
        public let duration: Duration
        /// The number of times that other threads have given work to the loop since the watchdog saw the call first.
        ///
        /// Each block, each job, and each stop counts as one, and so does each port and each source that became ready, with any
        /// number of messages or signals.
        public let arrivals: Int
        /// The time for which a timer of the loop has been due that fires only when the call has returned; nil if there is
        /// none.
        public let timerDelay: Duration?
    }
}

extension RunLoopWatchdog.Report: CustomStringConvertible {
    /// A line for a log.
    public var description: String {
        let verb =
            switch phase {
            case .blocked: "has been running for"
            case .stillBlocked: "is still running after"
            case .ended: "has returned after"
            }
        var waiting: [String] = []
        if arrivals > 0 { waiting.append("\(arrivals) arrived meanwhile") }
        if let timerDelay { waiting.append("a timer is late by \(timerDelay)") }
        let rest = waiting.isEmpty ? "" : "; " + waiting.joined(separator: ", ")
        // A call whose place is not known has a word for its kind there.
        let what = madeAt.contains(":") ? "\(handler) made at \(madeAt)" : madeAt
        return "\(loop), thread \(threadID): \(what) \(verb) \(duration)\(rest)"
    }
}

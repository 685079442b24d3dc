extension RunLoopWatchdog {
    /// A handler that keeps its loop from everything else, as another thread sees it.
    ///
    /// > Thread safety: a value.
    public struct Report: Sendable {
        /// What has become of a call since the watchdog saw it first.
        ///
        /// > Thread safety: a value.
        public enum Phase: Hashable, Sendable {
            /// It has lasted longer than the threshold, and goes on.
            case blocked
            /// It has lasted twice as long as at the report before, or longer, and goes on.
            case stillBlocked
            /// It has returned, or has begun to run the loop.
            case ended
        }

        /// The loop.
        public let loop: RunLoop
        /// The number that the system has given to the loop's thread: what debuggers and `top -H` call it.
        public let threadID: Int32
        /// What was given to the loop.
        public let handler: RunLoop.HandlerKind
        /// Where the block, timer, source, port or observer was made: file identifier and line.
        ///
        /// For what does not tell that, such as jobs of Swift concurrency, it says what it is.
        public let madeAt: String
        /// What has become of it.
        public let phase: Phase
        /// For how long the watchdog has seen it: at least so long it lasts, or has lasted.
        ///
        /// Time for which the whole process was halted, or the machine asleep, does not count.
        public let duration: Duration
        /// How often other threads have given the loop something to do since the watchdog saw the call first.
        ///
        /// Each block, each job, and each stop counts as one, and so does each port and each source that became ready,
        /// however many messages or signals it has.
        public let arrivals: Int
        /// How long a timer of the loop has been due that fires only when the call has returned; nil if none is.
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
        // What does not tell where it was made, says in that place what it is.
        let what = madeAt.contains(":") ? "\(handler) made at \(madeAt)" : madeAt
        return "\(loop), thread \(threadID): \(what) \(verb) \(duration)\(rest)"
    }
}

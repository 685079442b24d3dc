extension RunLoopWatchdog {
    /// A watchdog's report about a handler that blocks its loop.
    ///
    /// > Thread safety: a value.
    public struct Report: Sendable {
        /// The state of a handler's call, as the watchdog has observed it.
        ///
        /// > Thread safety: a value.
        @nonexhaustive
        public enum Phase: Hashable, Sendable {
            /// The call has lasted longer than the threshold, and continues.
            case blocked
            /// The call has lasted at least twice as long as at the previous report, and continues.
            case stillBlocked
            /// The call has returned, or has begun to run the loop.
            case ended
        }

        /// The loop that the handler blocks.
        public let loop: RunLoop
        /// The system's ID of the loop's thread, which debuggers and `top -H` show.
        public let threadID: Int32
        /// The kind of the handler.
        public let handler: RunLoop.HandlerKind
        /// The file identifier and line where the block, timer, source, port or observer was made.
        ///
        /// If the place is not known, as for a job of Swift concurrency, the text names the kind of call instead.
        public let madeAt: String
        /// The state of the handler's call.
        public let phase: Phase
        /// The time for which the watchdog has observed the call, rounded down to what the watchdog knows.
        ///
        /// The call has lasted at least that long. With a threshold of 200 ms, for example, the watchdog inspects the loops every
        /// 50 ms, so the time is a multiple of 50 ms. Time during which the whole process was halted, or the machine was asleep, does
        /// not count.
        public let duration: Duration
        /// The amount of work that other threads have sent to the loop since the watchdog first observed the call.
        ///
        /// Each block, job and stop counts as one. Each port and each source that became ready also counts as one, however many
        /// messages or signals it has.
        package let arrivals: Int
        /// The time by which the loop's earliest timer is late; nil if no timer is due.
        ///
        /// The timer can fire only after the handler has returned.
        package let timerDelay: Duration?
    }
}

extension RunLoopWatchdog.Report: CustomStringConvertible {
    /// The report, as one line for a log.
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
        // If the place is not known, `madeAt` names the kind of call.
        let what = madeAt.contains(":") ? "\(handler) made at \(madeAt)" : madeAt
        return "\(loop), thread \(threadID): \(what) \(verb) \(duration)\(rest)"
    }
}

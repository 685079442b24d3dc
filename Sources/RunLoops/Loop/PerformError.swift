/// The reason for which a wait for another thread's loop ended without a result.
///
/// If you waited for a block, the block has not started and will not start. The exception is ``Reason/loopEnded``: the block can
/// have started, and can itself have ended the thread. If you waited for the observers of a notification of the module
/// Notifications, every error means that the notification has been posted, and that only the wait has ended early.
///
/// Errors that differ only in the loop or the notification that they are about are equal.
///
/// > Thread safety: a value.
public struct PerformError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// The circle of threads that would wait for each other for ever.
    ///
    /// The value is nil unless the reason is ``Reason/wouldDeadlock``, and also if the thread would have waited for itself.
    public let circle: WaitCircle?

    package var origin = ErrorOrigin.unknown

    /// Makes an error, for tests and for code that stands in for a loop.
    ///
    /// - Parameter reason: The kind of the error.
    public init(_ reason: Reason) {
        self.reason = reason
        circle = nil
    }

    package init(_ circle: WaitCircle) {
        reason = .wouldDeadlock
        self.circle = circle
    }

    /// The kinds of errors of a wait for a loop.
    ///
    /// ```swift
    /// catch PerformError.Reason.timedOut { retryLater() }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind { case timedOut, loopEnded, wouldDeadlock }

        private let kind: Kind

        /// The deadline passed before the block had started, or before all observers had been called.
        public static let timedOut = Reason(kind: .timedOut)
        /// The loop's thread ended before the block or the observers had returned.
        ///
        /// It is possible that the block itself has ended the thread.
        public static let loopEnded = Reason(kind: .loopEnded)
        /// The calling thread would wait for ever: for itself, or in the circle that ``PerformError/circle`` names.
        ///
        /// A thread's own loop runs a block at once, so a wait for a block is never one of a thread for itself.
        public static let wouldDeadlock = Reason(kind: .wouldDeadlock)

        /// Returns true if an error is a ``PerformError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? PerformError)?.reason == reason
        }
    }
}

extension PerformError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch kind {
        case .timedOut: "the deadline passed before the loop had done what was asked"
        case .loopEnded: "the loop's thread ended before it had done what was asked"
        case .wouldDeadlock: "the wait would be for the thread that waits"
        }
    }
}

extension PerformError: ErrorWithOrigin, CustomStringConvertible {
    /// The origin, if it is known, and the reason, in words.
    public var description: String {
        if let circle { return "the wait would never end: \(circle)" }
        return origin.describing("\(reason)")
    }
}

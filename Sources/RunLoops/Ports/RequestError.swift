/// The reason for which a request has no answer.
///
/// Errors that differ only in the port that they are about are equal.
///
/// > Thread safety: a value.
public struct RequestError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// The circle of threads that would wait for each other for ever.
    ///
    /// The value is nil unless the reason is ``Reason/wouldDeadlock``, and also if the thread would have waited for itself.
    public let circle: WaitCircle?

    package var origin = ErrorOrigin.unknown

    /// Makes an error, for tests and for code that stands in for a port.
    ///
    /// - Parameter reason: The kind of the error.
    public init(_ reason: Reason) {
        self.reason = reason
        circle = nil
    }

    init(_ circle: WaitCircle) {
        reason = .wouldDeadlock
        self.circle = circle
    }

    /// The kinds of errors of a request.
    ///
    /// ```swift
    /// catch RequestError.Reason.noReply { print("nobody answers") }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind { case noReply, invalid, timedOut, cancelled, wouldDeadlock }

        private let kind: Kind

        /// The right to reply was destroyed unused.
        ///
        /// It is possible that the receiver has served the request nevertheless.
        public static let noReply = Reason(kind: .noReply)
        /// The port has ended, and the right to reply was destroyed unused.
        ///
        /// Usually the request was still in the queue. But it is possible that the receiver has served the request.
        public static let invalid = Reason(kind: .invalid)
        /// The deadline passed before there was an answer.
        ///
        /// It is possible that the receiver has served the request, or will still serve it. So retry only requests that can safely
        /// be served twice.
        public static let timedOut = Reason(kind: .timedOut)
        /// The task that awaited the answer was cancelled.
        ///
        /// It is possible that the receiver has served the request, or will still serve it. So retry only requests that can safely
        /// be served twice.
        public static let cancelled = Reason(kind: .cancelled)
        /// The calling thread would wait for ever: for itself, or in the circle that ``RequestError/circle`` names.
        ///
        /// If the calling thread is the receiver's own thread, nothing was sent. If another thread closed the circle after the
        /// request was sent, the request can still be served.
        public static let wouldDeadlock = Reason(kind: .wouldDeadlock)

        /// Returns true if an error is a ``RequestError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? RequestError)?.reason == reason
        }
    }
}

extension RequestError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch kind {
        case .noReply: "the right to reply was destroyed unused"
        case .invalid: "the port has ended"
        case .timedOut: "the deadline passed before there was an answer"
        case .cancelled: "the task was cancelled before there was an answer"
        case .wouldDeadlock: "the receiver's thread is the one that would wait"
        }
    }
}

extension RequestError: ErrorWithOrigin, CustomStringConvertible {
    /// The origin, if it is known, and the reason, in words.
    public var description: String {
        if let circle { return "the wait would never end: \(circle)" }
        return origin.describing("\(reason)")
    }
}

extension MessagePortError {
    /// The kinds of errors of ports between processes.
    ///
    /// ```swift
    /// catch MessagePortError.Reason.ended { reconnect() }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case name = "the name cannot be used"
            case notAdmitted = "the port does not admit this process"
            case tooManyConnections =
                "the port has as many connections with this process, or its user, as it allows"
            case notAPort = "the other end does not speak the protocol of ports"
            case timedOut = "the deadline passed before the other end replied, or made room"
            case noReply = "the right to reply to the request was released unused"
            case ended = "the port has ended, or the connection to it"
            case tooLarge = "the message is too long"
            case tooManyDescriptors = "the message carries too many descriptors"
            case wouldDeadlock = "the port is served by this thread, or by one that waits for it"
            case cancelled = "the task was cancelled"
            case system = "the kernel has refused a call"
        }

        private let kind: Kind

        /// The name could not be taken, or no port has the name; ``MessagePortError/nameError`` says which.
        public static let name = Reason(kind: .name)
        /// The port does not admit this process.
        public static let notAdmitted = Reason(kind: .notAdmitted)
        /// This process, or its user, has as many connections with the port as the port allows.
        ///
        /// Use these connections, or close some.
        public static let tooManyConnections = Reason(kind: .tooManyConnections)
        /// The other end of the connection does not speak the protocol of ports, or speaks another version of it.
        public static let notAPort = Reason(kind: .notAPort)
        /// The deadline passed before the other end replied, or made room.
        ///
        /// A message that timed out was not sent. If a request timed out, you cannot tell whether it was served. Retry only
        /// operations that may be done twice.
        public static let timedOut = Reason(kind: .timedOut)
        /// The other end has released the right to reply without using it, and will not reply.
        ///
        /// It is possible that the other end has served the request nevertheless.
        public static let noReply = Reason(kind: .noReply)
        /// The port or its process has ended, or one of the two ends has closed the connection.
        ///
        /// Make a new ``RemotePort``. If a request fails with this error, you cannot tell whether it was served. Retry only
        /// operations that may be done twice.
        public static let ended = Reason(kind: .ended)
        /// The message has more bytes than the other end accepts, or than one packet can hold.
        ///
        /// ``MessagePortError/limit`` is the largest number. Send fewer bytes, or send a descriptor of a file or of memory.
        public static let tooLarge = Reason(kind: .tooLarge)
        /// The message carries more descriptors than the other end accepts.
        ///
        /// ``MessagePortError/limit`` is the largest number. Send several messages.
        public static let tooManyDescriptors = Reason(kind: .tooManyDescriptors)
        /// The wait would never end.
        ///
        /// Either the port is in this thread's loop, which cannot serve the port during the wait, or the port's thread waits for
        /// this thread.
        public static let wouldDeadlock = Reason(kind: .wouldDeadlock)
        /// The waiting task was cancelled.
        ///
        /// You cannot tell whether the request was served. Retry only operations that may be done twice.
        public static let cancelled = Reason(kind: .cancelled)
        /// The kernel has refused a call, with ``MessagePortError/systemError``.
        public static let system = Reason(kind: .system)

        /// Returns true if an error is a ``MessagePortError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? MessagePortError)?.reason == reason
        }
    }
}

extension MessagePortError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String { kind.rawValue }
}

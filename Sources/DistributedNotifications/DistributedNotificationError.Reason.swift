extension DistributedNotificationError {
    /// The kinds of errors of centers.
    ///
    /// ```swift
    /// catch DistributedNotificationError.Reason.full { postLater() }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case malformed = "the name or the sender cannot be used"
            case tooLarge = "the payload has too many bytes; send a name or a path instead"
            case tooManyTopics = "the poster uses too many pairs of a name and a sender"
            case full = "the center keeps as many posts as it may; wait for room, or drop the oldest"
            case ended = "the center was invalidated"
            case dropped = "a later post has taken the room of this one"
            case timedOut = "the deadline passed first"
            case cancelled = "the task was cancelled"
            case coding = "the payload is not as expected"
            case protocolViolation = "the other end breaks the protocol"
            case duplicatePoster = "another process has the same identity as a poster"
            case engine = "the engine cannot be used"
            case port = "a message port has failed"
            case system = "the kernel has refused a call"
        }

        private let kind: Kind

        /// The name or the sender cannot be used; ``DistributedNotificationError/details`` says why.
        public static let malformed = Reason(kind: .malformed)
        /// The payload has more bytes than ``DistributedNotificationError/limit``, and nothing was sent.
        public static let tooLarge = Reason(kind: .tooLarge)
        /// The post would exceed the limit on topics, that is, on pairs of a name and a sender, and nothing was sent.
        public static let tooManyTopics = Reason(kind: .tooManyTopics)
        /// The center has no room for the post, because the engine does not take the earlier posts, or observers do not confirm
        /// them.
        ///
        /// Nothing was sent, and the post has no number.
        public static let full = Reason(kind: .full)
        /// The center was invalidated.
        ///
        /// If the notification was already posted, it can still arrive.
        public static let ended = Reason(kind: .ended)
        /// A later post with ``DistributedNotificationCenter/FullPolicy/dropOldest`` has taken the place of this one.
        public static let dropped = Reason(kind: .dropped)
        /// The deadline passed before the wait was over.
        ///
        /// If the notification was already posted, it can still arrive.
        public static let timedOut = Reason(kind: .timedOut)
        /// The waiting task was cancelled.
        ///
        /// If the notification was already posted, it can still arrive.
        public static let cancelled = Reason(kind: .cancelled)
        /// The value cannot be encoded as JSON, or the payload cannot be decoded from JSON to the type;
        /// ``DistributedNotificationError/details`` says why.
        public static let coding = Reason(kind: .coding)
        /// The other end of the connection violates the protocol, as ``DistributedNotificationError/details`` says.
        public static let protocolViolation = Reason(kind: .protocolViolation)
        /// Another process has a poster with the same identity.
        public static let duplicatePoster = Reason(kind: .duplicatePoster)
        /// The engine cannot be used; ``DistributedNotificationError/details`` says why.
        public static let engine = Reason(kind: .engine)
        /// A message port, which connects this process to others, has failed with ``DistributedNotificationError/portError``.
        public static let port = Reason(kind: .port)
        /// A system call has failed with ``DistributedNotificationError/systemError``.
        public static let system = Reason(kind: .system)

        /// Returns true if an error is a ``DistributedNotificationError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? DistributedNotificationError)?.reason == reason
        }
    }
}

extension DistributedNotificationError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String { kind.rawValue }
}

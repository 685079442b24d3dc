public import MessagePorts
public import RunLoops

/// The reason that a notification was not posted, or that a center is not connected.
///
/// > Thread safety: a value.
public enum DistributedNotificationError: Error, Hashable, Sendable {
    /// The name or the sender cannot be used, for the given reason.
    case malformed(String, reason: String)
    /// The payload has more bytes than the limit. Nothing was sent.
    case tooLarge(limit: Int)
    /// The post would exceed the limit on topics, that is, on pairs of a name and a sender. Nothing was sent.
    case tooManyTopics(limit: Int)
    /// The center has no room for the post, because the engine does not take the earlier posts, or observers do not confirm them.
    ///
    /// Nothing was sent, and the post has no number.
    case full
    /// The center was invalidated.
    ///
    /// If the notification was already posted, it can still arrive.
    case ended
    /// A later post with ``DistributedNotificationCenter/FullPolicy/dropOldest`` has taken the place of this one.
    case dropped
    /// The deadline passed before the wait was over. If the notification was already posted, it can still arrive.
    case timedOut
    /// The waiting task was cancelled. If the notification was already posted, it can still arrive.
    case cancelled
    /// The value cannot be encoded as JSON, or the payload cannot be decoded from JSON to the type, for the given reason.
    case coding(String)
    /// The other end of the connection violates the protocol, for the given reason.
    case protocolViolation(String)
    /// Another process has a poster with the same identity.
    case duplicatePoster
    /// The engine cannot be used, for the given reason.
    case engine(String)
    /// A message port, which connects this process to others, has failed with the given error.
    case port(MessagePortError)
    /// A system call has failed with the given error.
    case system(SystemError)
}

extension DistributedNotificationError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch self {
        case .malformed(let text, let reason): "\"\(text)\" cannot be used: \(reason)"
        case .tooLarge(let limit): "the payload has more than \(limit) bytes; send a name or a path instead"
        case .tooManyTopics(let limit): "the poster uses more than \(limit) pairs of a name and a sender"
        case .full: "the center keeps as many posts as it may; wait for room, or drop the oldest"
        case .ended: "the center was invalidated"
        case .dropped: "a later post has taken the room of this one"
        case .timedOut: "the deadline passed first"
        case .cancelled: "the task was cancelled"
        case .coding(let reason): "the payload is not as expected: \(reason)"
        case .protocolViolation(let reason): "the other end breaks the protocol: \(reason)"
        case .duplicatePoster: "another process has the same identity as a poster"
        case .engine(let reason): reason
        case .port(let error): "\(error)"
        case .system(let error): "\(error)"
        }
    }
}

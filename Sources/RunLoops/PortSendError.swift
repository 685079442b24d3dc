/// A message could not be sent.
///
/// It is given back.
///
/// > Thread safety: a value.
public struct PortSendError<Message: Sendable>: Error {
    /// Why it was not sent.
    public let reason: PortSendRefusal

    /// What was not sent, in order.
    public let messages: [Message]

    @usableFromInline
    init(_ refusal: PortCore.Refusal, _ messages: [Message]) {
        reason =
            switch refusal {
            case .timedOut: .timedOut
            case .invalid: .invalid
            case .wouldDeadlock: .wouldDeadlock
            }
        self.messages = messages
    }
}

/// Why a message was not sent.
///
/// > Thread safety: a value.
public enum PortSendRefusal: Hashable, Sendable {
    /// The port stayed full until the deadline.
    case timedOut
    /// The port has ended.
    case invalid
    /// The port is full, and its receiver's thread is this one, or waits for this one: the wait would never end.
    case wouldDeadlock
}

extension PortSendError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch reason {
        case .timedOut: "the port stayed full until the deadline"
        case .invalid: "the port has ended"
        case .wouldDeadlock: "the port is full, and its receiver is this thread, or waits for it"
        }
    }
}

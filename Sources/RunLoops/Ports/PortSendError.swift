/// The error of a failed send to a port, with the messages that were not sent.
///
/// > Thread safety: a value.
public struct PortSendError<Message: Sendable>: Error {
    /// The reason for which the messages were not sent.
    public let reason: PortSendRefusal

    /// The messages that were not sent, in order.
    public let messages: [Message]

    /// The port that did not accept the messages; nil for an error that no port has made.
    ///
    /// The description of the error names the place where the port was made. The property takes one machine word, so that
    /// the error still fits into registers.
    private let port: PortCore?

    /// Makes an error, for tests and for code that stands in for a port.
    ///
    /// - Parameters:
    ///   - reason: The reason.
    ///   - messages: The messages that were not sent.
    public init(_ reason: PortSendRefusal, messages: [Message]) {
        port = nil
        self.reason = reason
        self.messages = messages
    }

    @usableFromInline
    init(_ port: PortCore, _ refusal: PortCore.Refusal, _ messages: [Message]) {
        self.port = port
        reason = PortSendRefusal(refusal: refusal)
        self.messages = messages
    }
}

/// The reason for which a message was not sent.
///
/// A `catch` cannot name the error of a port without the type of its messages, so compare the reason:
/// `catch where error.reason == .timedOut`.
///
/// > Thread safety: a value.
public struct PortSendRefusal: Hashable, Sendable {
    fileprivate let refusal: PortCore.Refusal

    /// The port stayed full until the deadline.
    public static let timedOut = PortSendRefusal(refusal: .timedOut)
    /// The port has ended.
    public static let invalid = PortSendRefusal(refusal: .invalid)
    /// The port is full, and a wait for room would never end: the receiver's thread is this thread, or waits for this thread.
    public static let wouldDeadlock = PortSendRefusal(refusal: .wouldDeadlock)
    /// The port is full, and the task that sends was cancelled.
    public static let cancelled = PortSendRefusal(refusal: .cancelled)
}

extension PortSendError: CustomStringConvertible {
    /// The port, with the place where it was made, and the reason, in words.
    public var description: String { (port.map { "port made at \($0.origin): " } ?? "") + "\(reason)" }
}

extension PortSendRefusal: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch refusal {
        case .timedOut: "the port stayed full until the deadline"
        case .invalid: "the port has ended"
        case .wouldDeadlock: "the port is full, and its receiver is this thread, or waits for it"
        case .cancelled: "the port is full, and the task was cancelled"
        }
    }
}

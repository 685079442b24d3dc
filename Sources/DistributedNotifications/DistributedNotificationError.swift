public import MessagePorts
public import RunLoops

/// The reason that a notification was not posted, or that a center is not connected.
///
/// > Thread safety: a value.
public struct DistributedNotificationError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// What is known beyond the reason, in words for people, such as the text of a library; empty if that is nothing.
    public var details: String {
        if case .details(let details) = cause { details } else { "" }
    }

    /// The limit that was exceeded, in bytes or in topics; nil if the reason is not about a limit.
    public var limit: Int? {
        if case .limit(let limit) = cause { limit } else { nil }
    }

    /// The error of the message port; nil unless the reason is ``Reason/port``.
    public var portError: MessagePortError? {
        if case .port(let error) = cause { error } else { nil }
    }

    /// The error of the system call; nil unless the reason is ``Reason/system``.
    public var systemError: SystemError? {
        if case .system(let error) = cause { error } else { nil }
    }

    /// What belongs to the reason, in a box, so that the error is small.
    private indirect enum Cause: Hashable, Sendable {
        case details(String)
        case limit(Int)
        case port(MessagePortError)
        case system(SystemError)
    }

    private let cause: Cause?

    /// Makes an error, for tests and for code that stands in for a center.
    ///
    /// Pass what belongs to the reason, and nothing else.
    ///
    /// - Parameters:
    ///   - reason: The kind of the error.
    ///   - details: What is known beyond the reason, in words.
    ///   - limit: The limit that was exceeded.
    ///   - portError: The error of the message port.
    ///   - systemError: The error of the system call.
    public init(
        _ reason: Reason, details: String = "", limit: Int? = nil, portError: MessagePortError? = nil,
        systemError: SystemError? = nil
    ) {
        self.reason = reason
        cause =
            portError.map { .port($0) } ?? systemError.map { .system($0) } ?? limit.map { .limit($0) }
            ?? (details.isEmpty ? nil : .details(details))
    }

    static func tooLarge(limit: Int) -> DistributedNotificationError { .init(.tooLarge, limit: limit) }

    static func port(_ error: MessagePortError) -> DistributedNotificationError {
        .init(.port, portError: error)
    }

    package static func system(_ error: SystemError) -> DistributedNotificationError {
        .init(.system, systemError: error)
    }

    package static func engine(_ details: String) -> DistributedNotificationError {
        .init(.engine, details: details)
    }

    package static func protocolViolation(_ details: String) -> DistributedNotificationError {
        .init(.protocolViolation, details: details)
    }
}

extension DistributedNotificationError: CustomStringConvertible {
    /// The reason and the details, in words.
    public var description: String {
        switch cause {
        case .details(let details): reason == .engine ? details : "\(reason): \(details)"
        case .limit(let limit) where reason == .tooLarge:
            "the payload has more than \(limit) bytes; send a name or a path instead"
        case .limit(let limit): "the poster uses more than \(limit) pairs of a name and a sender"
        case .port(let error): "\(error)"
        case .system(let error): "\(error)"
        case nil: "\(reason)"
        }
    }
}

public import RunLoops

/// The reason that an operation on a port between processes has failed.
///
/// A message is sent whole or not at all. After some errors of a request, you cannot tell whether the request was sent, nor whether
/// it was served.
///
/// Errors that differ only in the port or the process that they are about are equal.
///
/// > Thread safety: a value.
public struct MessagePortError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// The error of the name; nil unless the reason is ``Reason/name``.
    public var nameError: PortNameError? {
        if case .name(let error) = cause { error } else { nil }
    }

    /// The error of the system call; nil unless the reason is ``Reason/system``.
    public var systemError: SystemError? {
        if case .system(let error) = cause { error } else { nil }
    }

    /// The limit that the message exceeds, in bytes or in descriptors; nil if the reason is not about a limit.
    public var limit: Int? {
        if case .limit(let limit) = cause { limit } else { nil }
    }

    /// What belongs to the reason, in a box, so that the error is small.
    private indirect enum Cause: Hashable, Sendable {
        case name(PortNameError)
        case system(SystemError)
        case limit(Int)
    }

    private let cause: Cause?

    package var origin = ErrorOrigin.unknown

    /// Makes an error, for tests and for code that stands in for a port.
    ///
    /// Pass what belongs to the reason, and nothing else.
    ///
    /// - Parameters:
    ///   - reason: The kind of the error.
    ///   - nameError: The error of the name.
    ///   - systemError: The error of the system call.
    ///   - limit: The limit that the message exceeds.
    public init(
        _ reason: Reason, nameError: PortNameError? = nil, systemError: SystemError? = nil, limit: Int? = nil
    ) {
        self.reason = reason
        cause =
            nameError.map { .name($0) } ?? systemError.map { .system($0) } ?? limit.map { .limit($0) }
    }

    package static func name(_ error: PortNameError) -> MessagePortError {
        MessagePortError(.name, nameError: error)
    }

    package static func system(_ error: SystemError) -> MessagePortError {
        MessagePortError(.system, systemError: error)
    }

    static func tooLarge(limit: Int) -> MessagePortError { MessagePortError(.tooLarge, limit: limit) }

    static func tooManyDescriptors(limit: Int) -> MessagePortError {
        MessagePortError(.tooManyDescriptors, limit: limit)
    }
}

extension MessagePortError: ErrorWithOrigin, CustomStringConvertible {
    /// The origin, if it is known, and the reason, in words.
    public var description: String {
        let words =
            switch cause {
            case .name(let error): "\(error)"
            case .system(let error): "\(error)"
            case .limit(let limit) where reason == .tooLarge: "the message is longer than \(limit) bytes"
            case .limit(let limit): "the message carries more than \(limit) descriptors"
            case nil: "\(reason)"
            }
        return origin.describing(words)
    }
}

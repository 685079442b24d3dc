public import RunLoops

/// The reason that an operation on a port between processes has failed.
///
/// A message is sent whole or not at all. After some errors of a request, you cannot tell whether the request was sent, nor whether
/// it was served.
///
/// > Thread safety: a value.
public enum MessagePortError: Error, Hashable, Sendable {
    /// The name could not be taken, or no port has the name; the associated error says which.
    case name(PortNameError)
    /// The port does not admit this process.
    case notAdmitted(ErrorOrigin)
    /// This process, or its user, has as many connections with the port as the port allows. Use these connections, or close some.
    case tooManyConnections(ErrorOrigin)
    /// The other end of the connection does not speak the protocol of ports, or speaks another version of it.
    case notAPort(ErrorOrigin)
    /// The deadline passed before the other end replied, or made room.
    ///
    /// A message that timed out was not sent. If a request timed out, you cannot tell whether it was served. Retry only operations
    /// that may be done twice.
    case timedOut(ErrorOrigin)
    /// The other end has released the right to reply without using it, and will not reply.
    ///
    /// It is possible that the other end has served the request nevertheless.
    case noReply(ErrorOrigin)
    /// The port or its process has ended, or one of the two ends has closed the connection. Make a new ``RemotePort``.
    ///
    /// If a request fails with this error, you cannot tell whether it was served. Retry only operations that may be done twice.
    case ended(ErrorOrigin)
    /// The message has more bytes than the other end accepts, or than one packet can hold. Send fewer bytes, or send a descriptor
    /// of a file or of memory.
    case tooLarge(limit: Int, ErrorOrigin)
    /// The message carries more descriptors than the other end accepts. Send several messages.
    case tooManyDescriptors(limit: Int, ErrorOrigin)
    /// The wait would never end.
    ///
    /// Either the port is in this thread's loop, which cannot serve the port during the wait, or the port's thread waits for this
    /// thread.
    case wouldDeadlock(ErrorOrigin)
    /// The waiting task was cancelled.
    ///
    /// You cannot tell whether the request was served. Retry only operations that may be done twice.
    case cancelled(ErrorOrigin)
    /// The kernel has refused a call.
    case system(SystemError)
}

extension MessagePortError {
    /// A ``notAdmitted(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var notAdmitted: MessagePortError { .notAdmitted(.unknown) }

    /// A ``tooManyConnections(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var tooManyConnections: MessagePortError { .tooManyConnections(.unknown) }

    /// A ``notAPort(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var notAPort: MessagePortError { .notAPort(.unknown) }

    /// A ``timedOut(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var timedOut: MessagePortError { .timedOut(.unknown) }

    /// A ``noReply(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var noReply: MessagePortError { .noReply(.unknown) }

    /// An ``ended(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var ended: MessagePortError { .ended(.unknown) }

    /// Makes a ``tooLarge(limit:_:)`` error without an origin, to compare with or to throw in your own code.
    ///
    /// - Parameter limit: The largest number of bytes.
    /// - Returns: The error.
    public static func tooLarge(limit: Int) -> MessagePortError { .tooLarge(limit: limit, .unknown) }

    /// Makes a ``tooManyDescriptors(limit:_:)`` error without an origin, to compare with or to throw in your own code.
    ///
    /// - Parameter limit: The largest number of descriptors.
    /// - Returns: The error.
    public static func tooManyDescriptors(limit: Int) -> MessagePortError {
        .tooManyDescriptors(limit: limit, .unknown)
    }

    /// A ``wouldDeadlock(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var wouldDeadlock: MessagePortError { .wouldDeadlock(.unknown) }

    /// A ``cancelled(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var cancelled: MessagePortError { .cancelled(.unknown) }

    /// Returns this error, with the given origin if its own origin is unknown.
    func about(_ origin: @autoclosure () -> ErrorOrigin) -> MessagePortError {
        switch self {
        case .name(let error): .name(error.about(origin()))
        case .notAdmitted(let known): known.isUnknown ? .notAdmitted(origin()) : self
        case .tooManyConnections(let known): known.isUnknown ? .tooManyConnections(origin()) : self
        case .notAPort(let known): known.isUnknown ? .notAPort(origin()) : self
        case .timedOut(let known): known.isUnknown ? .timedOut(origin()) : self
        case .noReply(let known): known.isUnknown ? .noReply(origin()) : self
        case .ended(let known): known.isUnknown ? .ended(origin()) : self
        case .tooLarge(let limit, let known):
            known.isUnknown ? .tooLarge(limit: limit, origin()) : self
        case .tooManyDescriptors(let limit, let known):
            known.isUnknown ? .tooManyDescriptors(limit: limit, origin()) : self
        case .wouldDeadlock(let known): known.isUnknown ? .wouldDeadlock(origin()) : self
        case .cancelled(let known): known.isUnknown ? .cancelled(origin()) : self
        case .system: self
        }
    }
}

extension MessagePortError: CustomStringConvertible {
    /// The origin, if it is known, and the reason, in words.
    public var description: String {
        switch self {
        case .name(let error): "\(error)"
        case .notAdmitted(let origin): origin.describing("the port does not admit this process")
        case .tooManyConnections(let origin):
            origin.describing("the port has as many connections with this process, or its user, as it allows")
        case .notAPort(let origin): origin.describing("the other end does not speak the protocol of ports")
        case .timedOut(let origin):
            origin.describing("the deadline passed before the other end replied, or made room")
        case .noReply(let origin): origin.describing("the right to reply to the request was released unused")
        case .ended(let origin): origin.describing("the port has ended, or the connection to it")
        case .tooLarge(let limit, let origin): origin.describing("the message is longer than \(limit) bytes")
        case .tooManyDescriptors(let limit, let origin):
            origin.describing("the message carries more than \(limit) descriptors")
        case .wouldDeadlock(let origin):
            origin.describing("the port is served by this thread, or by one that waits for it")
        case .cancelled(let origin): origin.describing("the task was cancelled")
        case .system(let error): "\(error)"
        }
    }
}

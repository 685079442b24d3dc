public import RunLoops

/// Why something with a port between processes was not done.
///
/// A message is sent whole or not at all. Of a request, some errors leave open whether it was sent, and perhaps served.
///
/// > Thread safety: a value.
public enum MessagePortError: Error, Hashable, Sendable {
    /// The name could not be had, or nobody has it: the error says which, and for how long that may last.
    case name(PortNameError)
    /// The port does not admit this process.
    case notAdmitted(ErrorOrigin)
    /// This process, or its user, has as many connections with the port as it lets each have: use those, or close some.
    case tooManyConnections(ErrorOrigin)
    /// What has the name, or the connection, does not speak as ports do, or not this version.
    case notAPort(ErrorOrigin)
    /// The deadline passed: the other end has not answered, or has not made room.
    ///
    /// A message was not sent then. Of a request you cannot tell from this whether it was served: retry only what may be done
    /// twice.
    case timedOut(ErrorOrigin)
    /// The other end has dropped the request, and will not reply.
    ///
    /// It may have served it all the same.
    case noReply(ErrorOrigin)
    /// The port has ended, or its process has, or the connection was closed, here or there. Connect anew.
    ///
    /// Of a request you cannot tell from this whether it was served: retry only what may be done twice.
    case ended(ErrorOrigin)
    /// The message has more bytes than the other end takes, or one packet can hold: send less, or send a descriptor of a
    /// file or of memory.
    case tooLarge(limit: Int)
    /// The message carries more descriptors than the other end takes: send several messages.
    case tooManyDescriptors(limit: Int)
    /// The port is in this thread's loop, which would have to serve it during the wait; or it waits for this thread.
    case wouldDeadlock(ErrorOrigin)
    /// The task that waited was cancelled.
    ///
    /// You cannot tell from this whether its request was served: retry only what may be done twice.
    case cancelled(ErrorOrigin)
    /// The kernel has refused.
    case system(SystemError)
}

extension MessagePortError {
    /// ``notAdmitted(_:)`` without an origin: to compare with, and to throw yourself.
    public static var notAdmitted: MessagePortError { .notAdmitted(.unknown) }

    /// ``tooManyConnections(_:)`` without an origin: to compare with, and to throw yourself.
    public static var tooManyConnections: MessagePortError { .tooManyConnections(.unknown) }

    /// ``notAPort(_:)`` without an origin: to compare with, and to throw yourself.
    public static var notAPort: MessagePortError { .notAPort(.unknown) }

    /// ``timedOut(_:)`` without an origin: to compare with, and to throw yourself.
    public static var timedOut: MessagePortError { .timedOut(.unknown) }

    /// ``noReply(_:)`` without an origin: to compare with, and to throw yourself.
    public static var noReply: MessagePortError { .noReply(.unknown) }

    /// ``ended(_:)`` without an origin: to compare with, and to throw yourself.
    public static var ended: MessagePortError { .ended(.unknown) }

    /// ``wouldDeadlock(_:)`` without an origin: to compare with, and to throw yourself.
    public static var wouldDeadlock: MessagePortError { .wouldDeadlock(.unknown) }

    /// ``cancelled(_:)`` without an origin: to compare with, and to throw yourself.
    public static var cancelled: MessagePortError { .cancelled(.unknown) }

    /// This error, with an origin if it has none.
    func about(_ origin: @autoclosure () -> ErrorOrigin) -> MessagePortError {
        switch self {
        case .notAdmitted(let known): known.isUnknown ? .notAdmitted(origin()) : self
        case .tooManyConnections(let known): known.isUnknown ? .tooManyConnections(origin()) : self
        case .notAPort(let known): known.isUnknown ? .notAPort(origin()) : self
        case .timedOut(let known): known.isUnknown ? .timedOut(origin()) : self
        case .noReply(let known): known.isUnknown ? .noReply(origin()) : self
        case .ended(let known): known.isUnknown ? .ended(origin()) : self
        case .wouldDeadlock(let known): known.isUnknown ? .wouldDeadlock(origin()) : self
        case .cancelled(let known): known.isUnknown ? .cancelled(origin()) : self
        case .name, .tooLarge, .tooManyDescriptors, .system: self
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
        case .notAPort(let origin): origin.describing("the other end does not speak as ports do")
        case .timedOut(let origin):
            origin.describing("the deadline passed before the other end had answered, or made room")
        case .noReply(let origin): origin.describing("the request was dropped without a reply")
        case .ended(let origin): origin.describing("the port has ended, or the connection to it")
        case .tooLarge(let limit): "the message is longer than \(limit) bytes"
        case .tooManyDescriptors(let limit): "the message carries more than \(limit) descriptors"
        case .wouldDeadlock(let origin):
            origin.describing("the port is served by this thread, or by one that waits for it")
        case .cancelled(let origin): origin.describing("the task was cancelled")
        case .system(let error): "\(error)"
        }
    }
}

/// Why something with a port between processes was not done.
///
/// A message is sent whole or not at all. Of a request, some errors leave open whether it was sent, and perhaps served.
///
/// > Thread safety: a value.
public enum MessagePortError: Error, Hashable, Sendable {
    /// The name could not be had, or nobody has it: the error says which, and for how long that may last.
    case name(PortNameError)
    /// The port does not admit this process.
    case notAdmitted
    /// This process, or its user, has as many connections with the port as it lets each have: use those, or close some.
    case tooManyConnections
    /// What has the name, or the connection, does not speak as ports do, or not this version.
    case notAPort
    /// The deadline passed: the other end has not answered, or has not made room.
    ///
    /// A message was not sent then. Of a request you cannot tell from this whether it was served: retry only what may be done
    /// twice.
    case timedOut
    /// The other end has dropped the request, and will not reply.
    ///
    /// It may have served it all the same.
    case noReply
    /// The port has ended, or its process has, or the connection was closed, here or there. Connect anew.
    ///
    /// Of a request you cannot tell from this whether it was served: retry only what may be done twice.
    case ended
    /// The message has more bytes than the other end takes, or one packet can hold: send less, or send a descriptor of a
    /// file or of memory.
    case tooLarge(limit: Int)
    /// The message carries more descriptors than the other end takes: send several messages.
    case tooManyDescriptors(limit: Int)
    /// The port is in this thread's loop, which would have to serve it during the wait; or it waits for this thread.
    case wouldDeadlock
    /// The task that waited was cancelled.
    ///
    /// You cannot tell from this whether its request was served: retry only what may be done twice.
    case cancelled
    /// The kernel has refused.
    case system(SystemError)
}

extension MessagePortError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch self {
        case .name(let error): "\(error)"
        case .notAdmitted: "the port does not admit this process"
        case .tooManyConnections:
            "the port has as many connections with this process, or its user, as it allows"
        case .notAPort: "the other end does not speak as ports do"
        case .timedOut: "the deadline passed before the other end had answered, or made room"
        case .noReply: "the request was dropped without a reply"
        case .ended: "the port has ended, or the connection to it"
        case .tooLarge(let limit): "the message is longer than \(limit) bytes"
        case .tooManyDescriptors(let limit): "the message carries more than \(limit) descriptors"
        case .wouldDeadlock: "the port is served by this thread, or by one that waits for it"
        case .cancelled: "the task was cancelled"
        case .system(let error): "\(error)"
        }
    }
}

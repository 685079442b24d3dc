public import RunLoops

extension DatagramSocket {
    /// The reason that a datagram socket has ended.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum EndReason: Hashable, Sendable {
        /// Your code has closed the socket.
        case closed
        /// The kernel refuses to receive, for another reason than one datagram.
        ///
        /// The code is `ESHUTDOWN` if a holder of another descriptor of the socket has shut the socket down.
        case failed(SystemError)
        /// The thread of the socket's loop has ended.
        case loopEnded
        /// A task that awaited a datagram was cancelled.
        case cancelled
    }
}

extension DatagramSocket.EndReason: CustomStringConvertible {
    /// A description of the reason.
    public var description: String {
        switch self {
        case .closed: "closed on this side"
        case .failed(let error): error.description
        case .loopEnded: "the thread of the loop has ended"
        case .cancelled: "the task was cancelled"
        }
    }
}

/// The error that a task gets when the datagram socket that it awaits has ended.
///
/// > Thread safety: a value.
public struct DatagramSocketEndedError: Error, Hashable, Sendable {
    /// The reason that the socket has ended.
    public let reason: DatagramSocket.EndReason

    /// Creates an error.
    ///
    /// - Parameter reason: The reason.
    public init(reason: DatagramSocket.EndReason) { self.reason = reason }
}

extension DatagramSocketEndedError: CustomStringConvertible {
    /// A description of the reason.
    public var description: String { "the datagram socket has ended: \(reason)" }
}

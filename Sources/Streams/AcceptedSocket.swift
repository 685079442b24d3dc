public import RunLoops
internal import Synchronization

/// A connection that a ``Listener`` has accepted, and that no loop has yet.
///
/// Make a ``Connection`` of it on the loop that is to have it. If it is destroyed instead, the connection is closed.
///
/// > Thread safety: a value that has one owner, which may pass it to any thread; ``boxed()`` helps with that.
public struct AcceptedSocket: ~Copyable, Sendable {
    private var owned: OwnedDescriptor
    let admission: AdmittedConnection?

    /// The address of the peer.
    public let peerAddress: SocketAddress

    init(_ owned: consuming OwnedDescriptor, _ peerAddress: SocketAddress, _ admission: AdmittedConnection) {
        self.owned = owned
        self.peerAddress = peerAddress
        self.admission = admission
    }

    consuming func takeDescriptor() -> OwnedDescriptor { owned }

    /// The socket's number, for system calls such as `setsockopt`.
    ///
    /// The socket stays this value's: do not close it.
    public var descriptor: CInt { owned.descriptor }

    /// Releases the socket to the caller, as a descriptor without a place in its listener's limits.
    ///
    /// - Returns: The socket: non-blocking, and closed on `exec`.
    public consuming func release() -> OwnedDescriptor {
        admission?.giveBack()
        return owned
    }

    /// Puts the socket into a box, which can be sent through a port, or captured by a block.
    ///
    /// ```swift
    /// let box = accepted.boxed()
    /// worker.runLoop.perform {
    ///     if let accepted = box.take() { serve(accepted) }
    /// }
    /// ```
    ///
    /// - Returns: The box.
    public consuming func boxed() -> Box { Box(self) }

    /// A box with an ``AcceptedSocket``, which one thread takes out.
    ///
    /// > Thread safety: any thread.
    public final class Box: Sendable {
        private let contents: Mutex<AcceptedSocket?>

        init(_ socket: consuming AcceptedSocket) { contents = Mutex(socket) }

        /// Takes the socket out.
        ///
        /// - Returns: The socket; nil if it was taken before.
        public func take() -> AcceptedSocket? { contents.withLock { $0.take() } }
    }
}

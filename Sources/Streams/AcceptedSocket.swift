public import RunLoops
internal import Synchronization

/// A connection that a ``Listener`` has accepted, and that belongs to no loop yet.
///
/// Create a ``Connection`` from the accepted socket on the thread of the loop that will serve the connection. If the accepted
/// socket is destroyed instead, the connection is closed.
///
/// > Thread safety: a value with one owner. The owner is allowed to pass the value to any thread, for example in the box that
/// > ``boxed()`` returns.
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

    /// The socket's descriptor, for system calls such as `setsockopt`.
    ///
    /// This value still owns the descriptor, so do not close it.
    public var descriptor: CInt { owned.descriptor }

    /// Releases the socket to the caller; the socket no longer counts towards the listener's limits.
    ///
    /// - Returns: The socket, which is non-blocking and close-on-exec.
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

    /// Passes the socket to a loop, which calls the handler with it on its own thread, in the common modes.
    ///
    /// ```swift
    /// try RunLoop.current.add(listener, forMode: .default) { accepted in
    ///     accepted.perform(on: group.next()) { serve($0) }
    /// }
    /// ```
    ///
    /// The socket counts towards the limits of its listener all the time. If the loop ends before it calls the handler, the
    /// connection is closed.
    ///
    /// - Parameters:
    ///   - loop: The loop, which may also be the loop of the calling thread.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called once with the socket.
    public consuming func perform(
        on loop: RunLoop, fileID: StaticString = #fileID, line: Int = #line,
        _ handler: @escaping @Sendable (consuming AcceptedSocket) -> Void
    ) {
        let box = boxed()
        loop.perform(fileID: fileID, line: line) {
            if let socket = box.take() { handler(socket) }
        }
    }

    /// A sendable container for an ``AcceptedSocket``.
    ///
    /// If the box is released with the socket still in it, the connection is closed.
    ///
    /// > Thread safety: any thread.
    public final class Box: Sendable {
        private let contents: Mutex<AcceptedSocket?>

        init(_ socket: consuming AcceptedSocket) { contents = Mutex(socket) }

        /// Takes the socket out of the box; only the first call gets it.
        ///
        /// - Returns: The socket; nil if it was taken before.
        public func take() -> AcceptedSocket? { contents.withLock { $0.take() } }
    }
}

public import RunLoops

extension DatagramSocket {
    /// Sets the handler of received datagrams.
    ///
    /// While no handler is set, the socket receives nothing, and the kernel stores what arrives. A datagram that is longer than
    /// ``Options/datagramByteLimit`` is cut, and ``isTruncated`` is true during the call.
    ///
    /// - Parameter handler: Called with the socket, the bytes, which are valid until the handler returns and can be none, and the
    ///   address of the sender. A Unix socket that is not bound has no name by which it could be answered.
    public func onReceive(_ handler: @escaping (DatagramSocket, RawSpan, SocketAddress) -> Void) {
        requireOwnThread("DatagramSocket.onReceive")
        setReceiver(.handler(handler))
    }

    /// Sets the handler that is called when the kernel or the network has refused a datagram that was sent.
    ///
    /// The kernel refuses datagrams that are too long (`EMSGSIZE`), and those for which there is no way (`ENETUNREACH`) or no
    /// permission (`EACCES`). The network reports that no socket has the port (`ECONNREFUSED`) or that the host cannot be reached
    /// (`EHOSTUNREACH`). For a Unix socket that is not connected, `EAGAIN` means that the receiver does not read. A Unix socket that
    /// is connected tells `ECONNREFUSED` or `ENOTCONN` once its peer is closed. Without a handler, and beyond 64 errors that wait
    /// for it, errors are only counted: ``Statistics/undelivered``.
    ///
    /// - Parameter handler: Called with the socket, the error, and the address to which the datagram was sent, or nil if that is
    ///   not known.
    public func onUndelivered(
        _ handler: @escaping (DatagramSocket, SystemError, SocketAddress?) -> Void
    ) {
        requireOwnThread("DatagramSocket.onUndelivered")
        if isOpen { handlers.undelivered.replace(with: handler) }
    }

    /// Sets the handler that is called when your code may send again.
    ///
    /// After a call of `send` has returned false because a limit was reached, the handler is called when half of the limits is
    /// free.
    ///
    /// - Parameter handler: Called each time that this happens.
    public func onRoom(_ handler: @escaping (DatagramSocket) -> Void) {
        requireOwnThread("DatagramSocket.onRoom")
        if isOpen { handlers.room.replace(with: handler) }
    }

    /// Sets the handler that is called when the socket has ended.
    ///
    /// The handler is called in any mode. It is not called if the socket was never added to a loop, or was destroyed while it was
    /// in no mode of its loop.
    ///
    /// - Parameter handler: Called once, after all other handlers.
    public func onEnd(_ handler: @escaping (DatagramSocket, EndReason) -> Void) {
        requireOwnThread("DatagramSocket.onEnd")
        if isOpen { handlers.ended.replace(with: handler) }
    }

    /// True while the socket does not receive; false by default.
    ///
    /// The kernel then stores what arrives, and discards datagrams when its buffer is full. Up to 32 datagrams that were received
    /// together with the present one wait in the socket.
    public var isReadingPaused: Bool {
        get { input.isPaused }
        set {
            requireOwnThread("DatagramSocket.isReadingPaused")
            input.isPaused = newValue
            watch()
        }
    }
}

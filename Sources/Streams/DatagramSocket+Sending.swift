internal import RunLoops

extension DatagramSocket {
    /// Sends a datagram.
    ///
    /// Datagrams that the socket's own handlers send go to the kernel when the handlers have returned, and others at the end of the
    /// loop's pass, in order. This call never waits. If the kernel does not accept datagrams, they wait in the socket. A Unix
    /// socket that is not connected does not wait for a receiver that does not read: the datagram is reported to
    /// ``onUndelivered(_:)``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which are copied, and can be none.
    ///   - receiver: The address of the receiver; nil for the peer of a connected socket.
    /// - Returns: False if the datagram was discarded, because ``Options/unsentLimit`` or ``Options/outputLimit`` is reached
    ///   or the socket has ended. At a limit, the handler of ``onRoom(_:)`` is called later.
    /// - Precondition: The socket is connected, or `receiver` is not nil.
    @discardableResult
    public func send(_ bytes: [UInt8], to receiver: SocketAddress? = nil) -> Bool {
        // Safe: a byte has no padding.
        send(unsafe bytes.span.bytes, to: receiver)
    }

    /// Sends a string as a datagram, in UTF-8.
    ///
    /// Apart from the type of its parameter, this method behaves like ``send(_:to:)-([UInt8],_)``.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - receiver: The address of the receiver; nil for the peer of a connected socket.
    /// - Returns: False if the text was discarded.
    @discardableResult
    public func send(_ text: some StringProtocol, to receiver: SocketAddress? = nil) -> Bool {
        send(Array(text.utf8), to: receiver)
    }

    /// Sends the bytes of a span as a datagram.
    ///
    /// Apart from the type of its parameter, this method behaves like ``send(_:to:)-([UInt8],_)``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, such as those that a handler was given; they are copied.
    ///   - receiver: The address of the receiver; nil for the peer of a connected socket.
    /// - Returns: False if the datagram was discarded.
    @discardableResult
    public func send(_ bytes: RawSpan, to receiver: SocketAddress? = nil) -> Bool {
        requireOwnThread("DatagramSocket.send")
        if receiver == nil && peerAddress == nil {
            misuse(
                "DatagramSocket.send: the \(self) is not connected; pass the address of the receiver, or make the socket with init(connectedTo:)"
            )
        }
        guard isOpen else { return false }
        if !output.hasRoom(for: bytes.byteCount, options) {
            // Datagrams of this pass have not been offered to the kernel yet, so they are offered now.
            flush()
            if !output.hasRoom(for: bytes.byteCount, options) {
                output.room = .awaited
                statistics.refused += 1
                return false
            }
        }
        output.append(bytes, receiver)
        settleLater()
        return true
    }
}

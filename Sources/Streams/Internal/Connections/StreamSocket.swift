internal import CStreams
internal import Glibc
internal import RunLoops

/// The owner of a connected, non-blocking stream socket, or of none.
struct StreamSocket: ~Copyable {
    private var owned: OwnedDescriptor?

    /// The descriptor of the socket; -1 if there is none.
    private(set) var descriptor: CInt

    /// Creates a value without a socket, for a connection that is not made yet.
    init() {
        owned = nil
        descriptor = -1
    }

    /// Takes over a connected, non-blocking stream socket.
    init(connected: consuming OwnedDescriptor) {
        descriptor = connected.descriptor
        owned = consume connected
    }

    /// Takes over a connected stream socket that the user passes in, and makes it non-blocking.
    ///
    /// - Throws: `SystemError` if `socket` is not a connected stream socket. The initializer closes `socket` before it throws.
    init(checking socket: consuming OwnedDescriptor) throws(SystemError) {
        let number = socket.descriptor
        _ = try systemCall("fcntl") { runloops_make_non_blocking(number) }
        if !runloops_is_stream(number) || runloops_listens(number) {
            throw SystemError(call: "getsockopt", code: EPROTOTYPE)
        }
        var length: UInt32 = 0
        var peer = [UInt8](repeating: 0, count: runloops_address_capacity)
        // Safe: C fills our own values.
        _ = try systemCall("getpeername") { unsafe runloops_peer_address(number, &peer, &length) }
        self.init(connected: socket)
    }

    /// Closes the socket.
    mutating func close() {
        owned = nil
        descriptor = -1
    }

    /// The result of receiving.
    enum Received {
        case bytes(Int)
        /// The peer has ended its stream.
        case end
        /// No byte has arrived.
        case nothing
        case failed(CInt)
    }

    /// Receives bytes, without waiting.
    func receive(into buffer: inout [UInt8]) -> Received {
        var code: CInt = 0
        // Safe: the kernel writes into our own buffer, at most as many bytes as it has room for.
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            let received = unsafe runloops_receive_bytes(descriptor, bytes.baseAddress, bytes.count)
            code = errno
            return received
        }
        if result > 0 { return .bytes(result) }
        if result == 0 { return .end }
        return code == EAGAIN ? .nothing : .failed(code)
    }

    /// True if the peer has ended its stream, and nothing is left to receive.
    var isAtEnd: Bool { runloops_is_at_end(descriptor) }

    /// The result of sending.
    enum Sent {
        /// The kernel has accepted this number of bytes, and may accept more.
        case bytes(Int)
        /// The kernel accepts no more bytes for now.
        case blocked
        case failed(CInt)
    }

    /// Sends bytes of a queue, as many as one system call accepts.
    func send(_ queue: inout OutputQueue) -> Sent {
        var code: CInt = 0
        let result = unsafe queue.send { parts, count in
            // Safe: the parts live until this returns.
            let sent = unsafe runloops_send_parts(descriptor, parts, count)
            code = errno
            return sent
        }
        if result > 0 { return .bytes(result) }
        return result == 0 || code == EAGAIN ? .blocked : .failed(code)
    }

    /// Returns and clears the pending error of the socket; 0 for none.
    func takeError() -> CInt { runloops_take_error(descriptor) }

    /// Ends the stream to the peer.
    ///
    /// An error is ignored: it means that the connection has ended, and the next receive returns the reason.
    func endOutput() { _ = runloops_end_sending(descriptor) }

    /// Makes the later closing of the socket reset the connection.
    func resetWhenClosed() { if descriptor >= 0 { runloops_reset_when_closed(descriptor) } }

    /// The address of this end; nil if there is none.
    var localAddress: SocketAddress? { unsafe address(runloops_own_address) }

    /// The address of the peer; nil if the connection has ended.
    var peerAddress: SocketAddress? { unsafe address(runloops_peer_address) }

    private func address(
        _ get: (CInt, UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt32>?) -> CInt
    ) -> SocketAddress? {
        let bytes = unsafe SocketAddress.filled { address in
            var length: UInt32 = 0
            // Safe: C fills our own values.
            return unsafe get(descriptor, address, &length) == 0 ? length : 0
        }
        return bytes.map { SocketAddress(kernel: $0) }
    }
}

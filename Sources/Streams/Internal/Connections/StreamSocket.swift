internal import CStreams
internal import Glibc
internal import RunLoops

/// The socket of a connection; empty before the connection is made and after the connection has ended.
///
/// The socket is a connected, non-blocking stream socket. If there is a filter, the connection receives and sends its bytes through
/// the filter.
struct StreamSocket: ~Copyable {
    private var owned: OwnedDescriptor?

    /// The layer between the connection and the socket; nil if the connection uses the socket directly.
    private(set) var filter: (any StreamFilter)?

    /// True if closing the socket resets the connection.
    private var isReset = false

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
        // Safe: the C function only writes to local variables.
        _ = try systemCall("getpeername") { unsafe runloops_peer_address(number, &peer, &length) }
        self.init(connected: socket)
    }

    /// Takes over the socket of a connection that has just been made.
    mutating func connect(_ socket: consuming OwnedDescriptor) {
        descriptor = socket.descriptor
        owned = consume socket
        filter?.begin(on: descriptor)
    }

    /// Puts a filter between the connection and the socket.
    mutating func insert(_ filter: any StreamFilter) {
        self.filter = filter
        if descriptor >= 0 { filter.begin(on: descriptor) }
    }

    /// Closes the socket.
    ///
    /// - Parameter isComplete: True if the connection has ended normally, and all written bytes were sent.
    mutating func close(isComplete: Bool) {
        if descriptor >= 0 { filter?.close(isComplete: isComplete && !isReset) }
        owned = nil
        descriptor = -1
    }

    /// True if the filter holds received bytes; the kernel does not report these bytes again.
    var holdsInput: Bool { filter?.holdsInput ?? false }

    /// True if the filter holds bytes that the kernel has not accepted.
    var holdsOutput: Bool { filter?.holdsOutput ?? false }

    /// Receives bytes, without waiting.
    func receive(into buffer: inout [UInt8]) -> StreamReceipt {
        // Safe: the filter writes at most as many bytes into `buffer` as it has room for.
        if let filter { return unsafe buffer.withUnsafeMutableBytes { unsafe filter.receive(into: $0) } }
        var code: CInt = 0
        // Safe: the kernel writes at most as many bytes into `buffer` as it has room for.
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            let received = unsafe runloops_receive_bytes(descriptor, bytes.baseAddress, bytes.count)
            code = errno
            return received
        }
        if result > 0 { return .bytes(result) }
        if result == 0 { return .end }
        return code == EAGAIN ? .nothing : .failed(Connection.reason(code, "recv"))
    }

    /// True if the peer has ended its stream, and nothing is left to receive.
    var isAtEnd: Bool { runloops_is_at_end(descriptor) }

    /// Sends as many bytes of a queue as one system call accepts.
    func send(_ queue: inout OutputQueue) -> StreamSending {
        if let filter { return send(&queue, through: filter) }
        var code: CInt = 0
        let result = unsafe queue.send { parts, count in
            // Safe: the parts stay valid during the call.
            let sent = unsafe runloops_send_parts(descriptor, parts, count)
            code = errno
            return sent
        }
        if result > 0 { return .bytes(result) }
        return result == 0 || code == EAGAIN ? .blocked : .failed(Connection.reason(code, "send"))
    }

    private func send(_ queue: inout OutputQueue, through filter: any StreamFilter) -> StreamSending {
        var taken = 0
        while !queue.isEmpty {
            let result = unsafe queue.send { parts, count in
                var sum = 0
                for index in 0..<Int(count) {
                    // Safe: the parts stay valid during the call.
                    let part = unsafe UnsafeRawBufferPointer(
                        start: parts[index].bytes, count: parts[index].count)
                    let accepted = unsafe filter.take(part)
                    sum += accepted
                    if accepted < part.count { break }
                }
                return sum
            }
            if result == 0 { break }
            taken += result
        }
        switch filter.flush() {
        case .bytes: return .bytes(taken)
        case .blocked: return taken > 0 ? .bytes(taken) : .blocked
        case .failed(let reason): return .failed(reason)
        }
    }

    /// Returns and clears the pending error of the socket; 0 for none.
    func takeError() -> CInt { runloops_take_error(descriptor) }

    /// Ends the stream to the peer.
    ///
    /// An error is ignored, because it means that the connection has ended, and the next call of ``receive(into:)`` returns the
    /// reason.
    func endOutput() {
        if let filter { return filter.endOutput() }
        _ = runloops_end_sending(descriptor)
    }

    /// Makes sure that the connection is reset when the socket is closed.
    mutating func resetWhenClosed() {
        isReset = true
        if descriptor >= 0 { runloops_reset_when_closed(descriptor) }
    }

    /// The address of this end; nil if there is no socket.
    var localAddress: SocketAddress? { unsafe address(runloops_own_address) }

    /// The address of the peer; nil if there is no socket or the connection has ended.
    var peerAddress: SocketAddress? { unsafe address(runloops_peer_address) }

    private func address(
        _ get: (CInt, UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt32>?) -> CInt
    ) -> SocketAddress? {
        let bytes = unsafe SocketAddress.filled { address in
            var length: UInt32 = 0
            // Safe: the C function only writes to local variables.
            return unsafe get(descriptor, address, &length) == 0 ? length : 0
        }
        return bytes.map { SocketAddress(kernel: $0) }
    }
}

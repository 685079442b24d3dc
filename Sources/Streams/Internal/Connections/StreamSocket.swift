internal import CRunLoops
internal import Glibc
internal import RunLoops

/// The socket of a connection; empty before the connection is made and after the connection has ended.
///
/// The socket is connected and non-blocking. It can also be a pipe, a pair of pipes, or a terminal. If there is a filter, the
/// connection receives and sends its bytes through the filter.
struct StreamSocket: ~Copyable {
    private var owned: OwnedDescriptor?

    /// The layer between the connection and the socket; nil if the connection uses the socket directly.
    private(set) var filter: (any StreamFilter)?
    /// True once the opening exchange of the filter has begun; the socket's readiness then continues it.
    var hasBegunOpening = false

    /// True if closing the socket resets the connection.
    private var isReset = false

    /// The descriptor of the socket; -1 if there is none.
    private(set) var descriptor: CInt

    /// A second descriptor that is written to; nil if ``descriptor`` is also written to.
    private var ownedOutput: OwnedDescriptor?

    private var files = StreamFiles()

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

    /// Takes over the descriptors of a stream that the user passes in, and makes them non-blocking.
    ///
    /// - Parameters:
    ///   - input: The descriptor to read from.
    ///   - output: The descriptor to write to; nil if it is the same.
    /// - Throws: `SystemError` if a descriptor is not one of a stream. The initializer closes both before it throws.
    init(files input: consuming OwnedDescriptor, output: consuming OwnedDescriptor?) throws(SystemError) {
        var files = StreamFiles()
        let kind = try StreamFiles.check(input.descriptor)
        let direction = kind == runloops_stream_socket ? StreamFiles.Direction.socket : .device
        files.input = runloops_is_for_reading(input.descriptor) ? direction : .absent
        var second: OwnedDescriptor? = output.take()
        if let number = second.number {
            let outputKind = try StreamFiles.check(number)
            if files.input == .absent || !runloops_is_for_writing(number) {
                throw SystemError(call: "fcntl", code: EBADF)
            }
            files.output =
                switch outputKind {
                case runloops_stream_socket: .socket
                case runloops_stream_null: .readyDevice
                default: .device
                }
        } else {
            files.output = runloops_is_for_writing(input.descriptor) ? direction : .absent
        }
        var first = consume input
        if kind == runloops_stream_null && files.input != .absent {
            // The null device is always at its end, but the kernel cannot report that. A pipe without a writer is, too.
            let pipe = try OwnedDescriptor.pipe()
            if second.number == nil && files.output != .absent {
                second = consume first
                files.output = .readyDevice
            }
            first = pipe.readingEnd
        }
        descriptor = first.descriptor
        owned = consume first
        ownedOutput = consume second
        self.files = files
    }

    /// True if the connection can receive, and if it can send.
    var directions: (receives: Bool, sends: Bool) {
        (files.input != .absent, files.output != .absent)
    }

    /// The second descriptor, if the connection can have to wait for it; -1 if there is none.
    var watchedOutput: CInt { files.output == .readyDevice ? -1 : ownedOutput.number ?? -1 }

    /// The descriptor that is written to.
    private var outputDescriptor: CInt { ownedOutput.number ?? descriptor }

    /// Takes over the socket of a connection that has just been made.
    mutating func connect(_ socket: consuming OwnedDescriptor) {
        descriptor = socket.descriptor
        owned = consume socket
        filter?.begin(on: descriptor)
    }

    /// Gives the socket away; afterwards there is none.
    mutating func take() -> OwnedDescriptor? {
        descriptor = -1
        return owned.take()
    }

    /// Puts a filter between the connection and the socket.
    mutating func insert(_ filter: any StreamFilter) {
        if files.input != .socket || files.output != .socket {
            misuse("Connection: TLS needs a socket; pass a connection whose descriptor is one")
        }
        self.filter = filter
        if descriptor >= 0 { filter.begin(on: descriptor) }
    }

    /// Closes the socket.
    ///
    /// - Parameter isComplete: True if the connection has ended normally, and all written bytes were sent.
    mutating func close(isComplete: Bool) {
        if descriptor >= 0 { filter?.close(isComplete: isComplete && !isReset) }
        owned = nil
        ownedOutput = nil
        descriptor = -1
    }

    /// Closes the descriptor in a forked child; the peer and the parent notice nothing.
    mutating func closeCopy() {
        owned = nil
        ownedOutput = nil
        descriptor = -1
    }

    /// True if the filter holds received bytes; the kernel does not report these bytes again.
    var holdsInput: Bool { filter?.holdsInput ?? false }

    /// True if the filter holds bytes that the kernel has not accepted.
    var holdsOutput: Bool { filter?.holdsOutput ?? false }

    /// Receives bytes, without waiting.
    /// - Parameters:
    ///   - buffer: The buffer that is filled from its beginning.
    ///   - limit: The maximum number of bytes.
    /// - Returns: The outcome.
    func receive(into buffer: inout [UInt8], upTo limit: Int) -> StreamReceipt {
        unsafe buffer.withUnsafeMutableBytes {
            unsafe receive(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<min($0.count, limit)]))
        }
    }

    /// Receives bytes, without waiting.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> StreamReceipt {
        // Safe: the filter and the kernel write at most as many bytes into `buffer` as it has room for.
        if let filter { return unsafe filter.receive(into: buffer) }
        let result =
            files.input != .socket
            ? unsafe runloops_read_bytes(descriptor, buffer.baseAddress, buffer.count)
            : unsafe runloops_receive_bytes(descriptor, buffer.baseAddress, buffer.count)
        let code = errno
        if result > 0 { return .bytes(result) }
        // A terminal whose other end is closed reports EIO.
        if result == 0 || files.input != .socket && code == EIO { return .end }
        return code == EAGAIN ? .nothing : .failed(Connection.reason(code, "recv"))
    }

    /// True if bytes, or the end of the peer's stream, have arrived that were not received.
    var hasInput: Bool { holdsInput || runloops_is_readable(descriptor) }

    /// True if the peer has ended its stream, and nothing is left to receive.
    var isAtEnd: Bool { runloops_is_at_end(descriptor) }

    /// Sends as many bytes of a queue as one system call accepts.
    func send(_ queue: inout OutputQueue) -> StreamSending {
        if let filter { return send(&queue, through: filter) }
        var code: CInt = 0
        let result = unsafe queue.send { parts, count in
            // Safe: the parts stay valid during the call.
            let sent =
                files.output != .socket
                ? unsafe runloops_write_parts(outputDescriptor, parts, count)
                : unsafe runloops_send_parts(outputDescriptor, parts, count)
            code = errno
            return sent
        }
        if result > 0 { return .bytes(result) }
        if result == 0 || code == EAGAIN { return .blocked }
        // A terminal whose other end is closed reports EIO.
        if files.output != .socket && code == EIO { return .failed(.reset) }
        return .failed(Connection.reason(code, "send"))
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
    ///
    /// A pipe that is written to has an error if it has no reader any more. Whatever can be read says by itself that it has ended.
    func takeError() -> CInt {
        if files.input != .socket { return files.input == .absent ? EPIPE : 0 }
        return runloops_take_error(descriptor)
    }

    /// Where bytes are sent, if there is no filter.
    var drivenOutput: DrivenOutput {
        DrivenOutput(descriptor: outputDescriptor, isSocket: files.output == .socket)
    }

    /// Ends the stream from the peer, if it comes over a socket; other descriptors are only no longer read.
    ///
    /// - Returns: The error of the kernel; 0 for none.
    func endInput() -> CInt {
        if files.input != .socket { return 0 }
        return shutdown(descriptor, CInt(SHUT_RD)) == 0 ? 0 : errno
    }

    /// Ends the stream to the peer.
    ///
    /// An error may be ignored, because it means that the connection has ended, and the next call of ``receive(into:)`` returns the
    /// reason.
    ///
    /// - Returns: The error of the kernel; 0 for none, and for a filter.
    @discardableResult
    mutating func endOutput() -> CInt {
        if let filter {
            filter.endOutput()
            return 0
        }
        if let output = ownedOutput.number {
            if files.output == .socket { _ = runloops_end_sending(output) }
            ownedOutput = nil
            return 0
        }
        // One end of a terminal cannot be ended in one direction.
        if files.output != .socket { return 0 }
        return runloops_end_sending(descriptor) == 0 ? 0 : errno
    }

    /// Makes sure that the connection is reset when the socket is closed.
    mutating func resetWhenClosed() {
        isReset = true
        if descriptor >= 0 { runloops_reset_when_closed(descriptor) }
    }

    /// The address of this end; nil if there is no socket.
    var localAddress: SocketAddress? { SocketAddress(nameOf: descriptor) }

    /// The address of the peer; nil if there is no socket or the connection has ended.
    var peerAddress: SocketAddress? { SocketAddress(peerOf: descriptor) }
}

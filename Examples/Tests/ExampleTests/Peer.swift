import Foundation

/// A plain socket of the test, without code of the tested libraries.
///
/// The calls block, but no longer than a test is allowed to hang.
final class Peer: @unchecked Sendable {
    // Safe because one thread reads, one thread writes, and the descriptor is closed when no thread uses the object.
    let descriptor: CInt
    private var unread: [UInt8] = []
    private var isClosed = false

    /// The end of a peer's stream.
    enum End: Equatable {
        case closed
        case reset
    }

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close() }

    /// Connects to a port of this machine.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - isSmall: True if the kernel stores as little as possible for this peer, so that the other side soon has to wait.
    /// - Throws: ``Failure`` if the connection is refused.
    init(port: UInt16, isSmall: Bool = false) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if descriptor < 0 { throw Failure(call: "socket") }
        if isSmall {
            // The buffer of the sender grows with the size of its segments, which on the loopback device is 64 KiB.
            set(IPPROTO_TCP, CInt(TCP_MAXSEG), 1_400)
            set(SOL_SOCKET, SO_RCVBUF, 4_096)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        let result = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Failure(call: "connect") }
        set(CInt(IPPROTO_TCP), CInt(TCP_NODELAY), 1)
    }

    private func set(_ level: Int, _ option: CInt, _ value: CInt) { set(CInt(level), option, value) }

    private func set(_ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Waits until the socket is ready.
    ///
    /// - Parameters:
    ///   - events: `POLLIN` or `POLLOUT`.
    ///   - milliseconds: The maximum time.
    /// - Returns: False if the socket is not ready in time.
    func isReady(_ events: Int32, milliseconds: CInt = 30_000) -> Bool {
        ExampleTests.isReady(descriptor, events, milliseconds: milliseconds)
    }

    // MARK: - Sending

    /// Sends all of the bytes.
    func send(_ bytes: some Collection<UInt8>) throws {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            guard let count = try sendSome(bytes[sent...], milliseconds: 30_000) else {
                throw Failure("send: the other side does not read")
            }
            sent += count
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends as many bytes as there is room for.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - milliseconds: The maximum time to wait for room.
    /// - Returns: The number of bytes, or nil if there was no room.
    /// - Throws: ``Failure`` if the connection has ended.
    func sendSome(_ bytes: ArraySlice<UInt8>, milliseconds: CInt) throws -> Int? {
        guard isReady(POLLOUT, milliseconds: milliseconds) else { return nil }
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        if count < 0 && errno != EAGAIN { throw Failure(call: "send") }
        return max(count, 0)
    }

    /// Ends the output, but not the input.
    func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

    // MARK: - Receiving

    /// Receives some bytes.
    ///
    /// - Returns: The number of bytes, or 0 at the end.
    /// - Throws: ``Failure`` if the connection is reset, or no byte arrives.
    func receive(into buffer: inout [UInt8]) throws -> Int {
        guard isReady(POLLIN) else { throw Failure("recv: nothing comes") }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 { throw Failure(call: "recv") }
        return count
    }

    /// Receives a line without its ending, or nil at the end.
    func line() throws -> String? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = unread.firstIndex(of: 10) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let count = try receive(into: &buffer)
            if count == 0 { return nil }
            unread += buffer[..<count]
        }
    }

    /// Receives and discards bytes until the connection ends.
    func drain() throws -> End {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            guard isReady(POLLIN) else { throw Failure("the connection does not end") }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return .closed }
            if count > 0 { continue }
            if errno == ECONNRESET { return .reset }
            throw Failure(call: "recv")
        }
    }

    // MARK: - Closing

    func close() {
        if !isClosed { Glibc.close(descriptor) }
        isClosed = true
    }

    /// Closes the connection so that the other side gets a reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }
}

/// Waits until a descriptor is ready.
///
/// - Returns: False if the descriptor is not ready in time.
private func isReady(_ descriptor: CInt, _ events: CInt, milliseconds: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    var result = poll(&entry, 1, milliseconds)
    while result < 0 && errno == EINTR { result = poll(&entry, 1, milliseconds) }
    return result > 0
}

/// A listening socket of the test, for programs that connect to other programs.
final class PeerListener: @unchecked Sendable {
    // Safe because the object does not change after its creation.
    private let descriptor: CInt
    let port: UInt16

    init() throws {
        let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptor = listening
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listens = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, length) == 0 && listen(listening, 64) == 0
                    && getsockname(listening, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !listens { throw Failure(call: "listen") }
    }

    deinit { close(descriptor) }

    func accept() throws -> Peer {
        guard isReady(descriptor, POLLIN, milliseconds: 30_000) else {
            throw Failure("accept: no connection comes")
        }
        let accepted = Glibc.accept(descriptor, nil, nil)
        if accepted < 0 { throw Failure(call: "accept") }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return Peer(accepted)
    }
}

/// A thread of a test, whose result ``join()`` returns.
final class Worker<Result: Sendable>: @unchecked Sendable {
    // Safe because the result is stored before the signal of the semaphore, and loaded after the wait.
    private let ended = DispatchSemaphore(value: 0)
    private var result: Swift.Result<Result, any Error>?

    init(_ body: @escaping @Sendable () throws -> Result) {
        let thread = Thread { [self] in
            result = Swift.Result { try body() }
            ended.signal()
        }
        thread.start()
    }

    func join() throws -> Result {
        ended.wait()
        guard let result else { throw Failure("a thread has no result") }
        return try result.get()
    }
}

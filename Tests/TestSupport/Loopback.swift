internal import Glibc
internal import RunLoops

/// Non-blocking TCP sockets on the loopback address.
public enum Loopback {
    /// Listens on a port that the system chooses.
    ///
    /// - Returns: The socket and the port.
    /// - Throws: `SystemError` if the system refuses.
    public static func listen() throws -> (socket: CInt, port: UInt16) {
        let listening = try socket()
        var address = self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe, here and below: the kernel reads or fills a local variable, whose length it gets.
        let bound = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listening, address, length) == 0 && Glibc.listen(listening, 16) == 0
                    && getsockname(listening, address, &length) == 0
            }
        }
        if !bound { throw SystemError(call: "bind", code: errno) }
        return (listening, UInt16(bigEndian: address.sin_port))
    }

    /// Begins to connect; the socket becomes writable when the attempt has succeeded or failed.
    ///
    /// - Parameter port: The port of the listener.
    /// - Returns: The socket.
    /// - Throws: `SystemError` if the system refuses at once.
    public static func connect(to port: UInt16) throws -> CInt {
        let connecting = try socket()
        var address = self.address(port: port)
        let result = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Glibc.connect(connecting, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 && errno != EINPROGRESS { throw SystemError(call: "connect", code: errno) }
        return connecting
    }

    /// Accepts a waiting connection.
    ///
    /// - Parameter listening: The listening socket.
    /// - Returns: The socket of the connection, or nil if none waits.
    public static func accept(_ listening: CInt) -> CInt? {
        let accepted = Glibc.accept(listening, nil, nil)
        if accepted < 0 { return nil }
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return accepted
    }

    /// Makes a pair of connected stream sockets without an address.
    ///
    /// - Returns: The sockets.
    /// - Throws: `SystemError` if the system refuses.
    public static func pair() throws -> (CInt, CInt) {
        var ends: [CInt] = [0, 0]
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        // Safe: the kernel fills an array of two elements.
        if unsafe socketpair(AF_UNIX, type, 0, &ends) != 0 {
            throw SystemError(call: "socketpair", code: errno)
        }
        return (ends[0], ends[1])
    }

    /// Returns the outcome of an attempt to connect.
    ///
    /// - Parameter socket: The socket.
    /// - Returns: 0, or an `errno`.
    public static func error(of socket: CInt) -> CInt {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }

    /// Makes the kernel accept only a few kilobytes that the peer has not read.
    ///
    /// - Parameter socket: The socket.
    public static func limitSendBuffer(of socket: CInt) {
        var size: CInt = 4096
        // Safe: the kernel reads a local number.
        unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Ends the sending direction of a socket.
    ///
    /// - Parameter socket: The socket.
    public static func endSending(_ socket: CInt) { shutdown(socket, CInt(SHUT_WR)) }

    /// Reads the available bytes.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - most: The maximum number of bytes.
    /// - Returns: The bytes, which are empty at the end of the stream, or nil if none are available.
    /// - Throws: `SystemError` if the connection is broken.
    public static func read(_ socket: CInt, atMost most: Int = 16_384) throws -> [UInt8]? {
        var failure: CInt = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            let result = unsafe recv(socket, buffer.baseAddress, most, 0)
            if result < 0 { failure = errno }
            count = max(result, 0)
        }
        if failure == EAGAIN { return nil }
        if failure != 0 { throw SystemError(call: "recv", code: failure) }
        return bytes
    }

    /// Writes as many bytes as there is room for.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, written from the front.
    ///   - socket: The socket.
    /// - Returns: The number of written bytes.
    /// - Throws: `SystemError` if the connection is broken.
    public static func write(_ bytes: some Collection<UInt8>, to socket: CInt) throws -> Int {
        let bytes = Array(bytes)
        let count = unsafe send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        if count >= 0 { return count }
        if errno == EAGAIN { return 0 }
        throw SystemError(call: "send", code: errno)
    }

    /// Closes a socket.
    ///
    /// - Parameter socket: The socket.
    public static func close(_ socket: CInt) { _ = Glibc.close(socket) }

    private static func socket() throws -> CInt {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let made = Glibc.socket(AF_INET, type, 0)
        if made < 0 { throw SystemError(call: "socket", code: errno) }
        // The buffers are small, so that a writer fills them.
        var size: CInt = 4_096
        _ = unsafe setsockopt(made, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        return made
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        return address
    }
}

internal import CRunLoops

/// The address of one end of a connection: an IP address with a port, or the name of a Unix socket.
///
/// An address holds a numeric host, never a host name. A host name is resolved when a connection is made, as ``Endpoint``
/// describes.
///
/// > Thread safety: a value.
public struct SocketAddress: Hashable, Sendable {
    private let contents: AddressBytes

    /// The address as the kernel represents it, in a `sockaddr`.
    package var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }

    /// Creates an address from the bytes of a `sockaddr`.
    package init(kernel bytes: [UInt8]) {
        self = unsafe bytes.withUnsafeBytes { unsafe SocketAddress(kernel: $0) }
    }

    /// Creates an address from the bytes of a `sockaddr`, which are copied.
    init(kernel bytes: UnsafeRawBufferPointer) { contents = unsafe AddressBytes(bytes) }

    /// Calls a closure with the address as the kernel represents it, without allocating memory.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe contents.withUnsafeBytes(body)
    }

    /// Creates the address of a numeric host and a port; nil if the host is not a numeric address.
    ///
    /// - Parameters:
    ///   - host: An IPv4 address such as `127.0.0.1`, or an IPv6 address such as `::1` or `fe80::1%eth0`.
    ///   - port: The port.
    public init?(host: String, port: UInt16) {
        if host.utf8.contains(0) { return nil }
        unsafe self.init { unsafe runloops_ip_address(host, port, $0) }
    }

    /// Creates the address of a Unix socket in the file system; nil if the path is empty, too long, or contains a zero byte.
    ///
    /// - Parameter path: The path, of at most 107 bytes.
    public init?(path: String) { self.init(unixName: path, isAbstract: false) }

    /// Creates the address of a Unix socket outside the file system; nil if the name is empty or too long.
    ///
    /// Only Linux has such sockets, which are called abstract.
    ///
    /// - Parameter name: The name, of at most 107 bytes.
    public init?(abstractName name: String) { self.init(unixName: name, isAbstract: true) }

    private init?(unixName name: String, isAbstract: Bool) {
        let name = Array(name.utf8)
        if !isAbstract && name.contains(0) { return nil }
        unsafe self.init { unsafe runloops_unix_address(name, name.count, isAbstract, $0) }
    }

    /// Calls a function that writes an address; nil if that has no bytes.
    ///
    /// - Parameter fill: Writes the address, and returns its length.
    init?(filling fill: (UnsafeMutableRawPointer) -> UInt32) {
        let capacity = runloops_address_capacity
        // Safe: the C function writes at most `capacity` bytes, and returns their number.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = unsafe Int(fill(UnsafeMutableRawPointer(start)))
        }
        if bytes.isEmpty { return nil }
        self.init(kernel: bytes)
    }

    private var kind: runloops_address_kind {
        unsafe withUnsafeBytes { unsafe runloops_kind_of_address($0.baseAddress, UInt32($0.count)) }
    }

    /// True if this is an IPv4 address.
    var isIPv4: Bool { kind == runloops_address_ipv4 }

    /// True if this is an IPv4 or IPv6 address.
    var isIP: Bool { isIPv4 || kind == runloops_address_ipv6 }

    /// The numeric IP address; nil for a Unix socket.
    public var host: String? {
        guard isIP else { return nil }
        return unsafe withUnsafeTemporaryAllocation(
            of: CChar.self, capacity: runloops_address_text
        ) { text in
            // Safe: the C function writes a text that fits into the buffer, with a zero at its end.
            guard let start = text.baseAddress,
                unsafe withUnsafeBytes({
                    unsafe runloops_host_of_address($0.baseAddress, UInt32($0.count), start)
                })
            else { return nil }
            return unsafe String(cString: start)
        }
    }

    /// The port; nil for a Unix socket.
    public var port: UInt16? {
        guard isIP else { return nil }
        return unsafe withUnsafeBytes { unsafe runloops_port_of_address($0.baseAddress, UInt32($0.count)) }
    }

    /// Returns the address with another port; a Unix socket is returned unchanged.
    func with(port: UInt16) -> SocketAddress {
        guard isIP else { return self }
        var bytes = bytes
        bytes[runloops_port_offset] = UInt8(port >> 8)
        bytes[runloops_port_offset + 1] = UInt8(port & 0xff)
        return SocketAddress(kernel: bytes)
    }

    /// The path of a Unix socket in the file system; nil for all other addresses.
    public var path: String? { kind == runloops_address_path ? unixName : nil }

    /// The name of a Unix socket outside the file system; nil for all other addresses.
    public var abstractName: String? { kind == runloops_address_abstract ? unixName : nil }

    private var unixName: String {
        var name = bytes.dropFirst(Int(runloops_path_offset()))
        if kind == runloops_address_abstract {
            name = name.dropFirst()
        } else if let end = name.firstIndex(of: 0) {
            name = name[..<end]
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// The bytes by which a peer is recognized: its IPv4 address, or the /64 network of its IPv6 address.
    ///
    /// Nil for Unix sockets, because all their peers are on this machine.
    var peerKey: [UInt8]? {
        var key = [UInt8](repeating: 0, count: 16)
        let isKnown = unsafe withUnsafeBytes {
            unsafe runloops_peer_key($0.baseAddress, UInt32($0.count), &key)
        }
        return isKnown ? key : nil
    }
}

extension SocketAddress {
    /// The address of the peer of a socket; nil if the socket is not connected.
    ///
    /// - Parameter socket: The descriptor of the socket.
    package init?(peerOf socket: CInt) { unsafe self.init(socket, runloops_peer_address) }

    /// The address of a socket itself; nil if it is not open.
    ///
    /// - Parameter socket: The descriptor of the socket.
    package init?(nameOf socket: CInt) { unsafe self.init(socket, runloops_own_address) }

    private init?(
        _ socket: CInt, _ get: (CInt, UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt32>?) -> CInt
    ) {
        unsafe self.init { address in
            var length: UInt32 = 0
            // Safe: the C function only writes to local variables.
            return unsafe get(socket, address, &length) == 0 ? length : 0
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// The address, in a form such as `127.0.0.1:80`, `[::1]:80`, `/run/server.sock` or `@name`.
    public var description: String {
        if let host, let port { return isIPv4 ? "\(host):\(port)" : "[\(host)]:\(port)" }
        if let path { return "\(PrintableText(path))" }
        if let abstractName { return "@\(PrintableText(abstractName))" }
        return kind == runloops_address_unnamed ? "unnamed Unix socket" : "unknown address"
    }
}

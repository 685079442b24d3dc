internal import CRunLoops
internal import Glibc
internal import RunLoops

/// A socket for datagrams, its addresses, and the file that was created for it.
struct OpenedDatagramSocket: ~Copyable {
    let owned: OwnedDescriptor
    let localAddress: SocketAddress
    let peerAddress: SocketAddress?
    /// The file of the socket, which is removed with this value; nil if none was created.
    let file: SocketFile?

    /// Takes over a socket that the user passes in, and makes it non-blocking.
    ///
    /// - Throws: `SystemError` if `socket` is not a socket for datagrams. The initializer closes `socket` before it throws.
    init(checking socket: consuming OwnedDescriptor) throws(SystemError) {
        let number = socket.descriptor
        _ = try systemCall("fcntl") { runloops_make_non_blocking(number) }
        if !runloops_is_for_datagrams(number) { throw SystemError(call: "getsockopt", code: EPROTOTYPE) }
        runloops_queue_network_errors(number)
        try self.init(socket, file: nil)
    }

    private init(_ socket: consuming OwnedDescriptor, file: SocketFile?) throws(SystemError) {
        guard let address = SocketAddress(nameOf: socket.descriptor) else {
            throw SystemError(call: "getsockname", code: EBADF)
        }
        localAddress = address
        peerAddress = SocketAddress(peerOf: socket.descriptor)
        self.file = file
        owned = socket
    }

    /// Opens a socket that receives at an address.
    static func open(
        at address: DatagramSocket.Address, _ options: DatagramSocket.Options
    ) throws(SystemError) -> OpenedDatagramSocket {
        let bound = try bind(to: address, options)
        return try OpenedDatagramSocket(bound, file: address.place.path.map { SocketFile($0) })
    }

    /// Opens a socket that is connected to a peer.
    static func open(
        connectedTo peer: SocketAddress, from local: DatagramSocket.Address?,
        _ options: DatagramSocket.Options
    ) throws(SystemError) -> OpenedDatagramSocket {
        // Safe: the C functions only read the address.
        let family = unsafe runloops_family_of_address(peer.bytes, UInt32(peer.bytes.count))
        let socket: OwnedDescriptor
        var file: SocketFile?
        if let local {
            socket = try bind(to: local, options, family)
            file = local.place.path.map { SocketFile($0) }
        } else {
            socket = try open(family, nil, options)
        }
        let number = socket.descriptor
        _ = try systemCall("connect") {
            unsafe runloops_connect_datagrams(number, peer.bytes, UInt32(peer.bytes.count))
        }
        return try OpenedDatagramSocket(socket, file: file)
    }

    private static func bind(
        to address: DatagramSocket.Address, _ options: DatagramSocket.Options, _ peerFamily: CInt? = nil
    ) throws(SystemError) -> OwnedDescriptor {
        try address.place.bound(beside: peerFamily, namelessCode: EINVAL) { address throws(SystemError) in
            try open(address, options)
        }
    }

    private static func open(
        _ address: SocketAddress, _ options: DatagramSocket.Options
    ) throws(SystemError) -> OwnedDescriptor {
        // Safe: the C function only reads the address.
        let family = unsafe runloops_family_of_address(address.bytes, UInt32(address.bytes.count))
        return try open(family, address, options)
    }

    private static func open(
        _ family: CInt, _ address: SocketAddress?, _ options: DatagramSocket.Options
    ) throws(SystemError) -> OwnedDescriptor {
        let settings = runloops_datagram_options(
            reuses_port: options.reusesPort, takes_ipv4: options.takesIPv4,
            sends_broadcasts: options.sendsBroadcasts,
            multicast_hops: options.multicastHopLimit.map { CInt($0) } ?? -1,
            multicast_interface: try index(of: options.multicastInterface) ?? -1,
            receive_buffer: options.receiveBufferSize.map { max(0, CInt(clamping: $0)) } ?? -1,
            send_buffer: options.sendBufferSize.map { max(0, CInt(clamping: $0)) } ?? -1)
        var call: UnsafePointer<CChar>?
        let bytes = address?.bytes ?? []
        // Safe: the C function reads the address, and only writes to `call`, which then points to a constant string.
        let result = unsafe runloops_open_datagrams(family, bytes, UInt32(bytes.count), settings, &call)
        if result == -1 {
            let code = errno
            throw unsafe SystemError(call: call.map { unsafe String(cString: $0) } ?? "socket", code: code)
        }
        return OwnedDescriptor(result)
    }

    /// Returns the index of a network interface; nil without a name.
    ///
    /// - Throws: `SystemError` if there is no interface of that name.
    static func index(of interface: String?) throws(SystemError) -> CInt? {
        guard let interface else { return nil }
        let index = unsafe runloops_interface_index(interface)
        if index == 0 { throw SystemError(call: "if_nametoindex", code: ENODEV) }
        return CInt(index)
    }
}

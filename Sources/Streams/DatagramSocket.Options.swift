extension DatagramSocket {
    /// The settings and limits of a datagram socket.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// True if other sockets, in this process or in others, may use the same port; false by default.
        ///
        /// The kernel distributes datagrams among the sockets by sender, so each loop can have a socket of its own. A multicast
        /// datagram goes to all of them.
        public var reusesPort = false

        /// True if a socket on an IPv6 address also receives and sends IPv4 datagrams; true by default.
        ///
        /// The address of an IPv4 sender then has the form `::ffff:192.0.2.1`.
        public var takesIPv4 = true

        /// True if the socket may send to broadcast addresses; false by default.
        public var sendsBroadcasts = false

        /// The number of networks that sent multicasts may pass through; nil for the system's default, which is 1.
        public var multicastHopLimit: UInt8?

        /// The name of the interface through which multicasts are sent, such as `eth0`; nil for the one that the system chooses.
        public var multicastInterface: String?

        /// The limit on the bytes that the kernel stores until they are received; nil for the system's default.
        ///
        /// The kernel doubles the number for its own needs, and has an upper limit for it (`net.core.rmem_max`). It counts at least
        /// some 800 bytes for each datagram over UDP, so the usual default stores about 256 short ones.
        public var receiveBufferSize: Int?

        /// The limit on the bytes that the kernel stores until they are sent; nil for the system's default.
        ///
        /// The kernel doubles the number for its own needs, and has an upper limit for it (`net.core.wmem_max`).
        public var sendBufferSize: Int?

        /// The limit on the bytes of a received datagram; 65,535 by default, which no UDP datagram exceeds.
        ///
        /// A longer datagram is cut, and marked: ``DatagramSocket/isTruncated``. The limit is at most 16 MiB.
        public var datagramByteLimit = 65_535

        /// The limit on the number of datagrams that the kernel has not accepted yet; 1,024 by default.
        ///
        /// At the limit, ``DatagramSocket/send(_:to:)-([UInt8],_)`` first offers the datagrams to the kernel. If the limit is still
        /// reached after that, it discards the new datagram, and returns false.
        public var unsentLimit = 1024

        /// The limit on the bytes of the datagrams that the kernel has not accepted yet; 1 MiB by default.
        ///
        /// A single datagram may exceed the limit. Apart from that, it works like ``unsentLimit``.
        public var outputLimit = 1 << 20

        static var largestDatagramByteLimit: Int { 16 << 20 }

        /// Makes the default settings.
        public init() {}
    }

    /// The counts of a socket's datagrams.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The number of datagrams that were passed to the handler, or taken by a task.
        public internal(set) var received = 0
        /// The number of these that were cut, because they were longer than ``Options/datagramByteLimit``.
        public internal(set) var truncated = 0
        /// The number of datagrams that the kernel has accepted for sending.
        public internal(set) var sent = 0
        /// The number of datagrams that were discarded because ``Options/unsentLimit`` or ``Options/outputLimit`` was reached.
        public internal(set) var refused = 0
        /// The number of errors of sent datagrams that the kernel or the network has reported.
        public internal(set) var undelivered = 0
    }

    /// The address at which a socket receives.
    ///
    /// > Thread safety: a value.
    public struct Address: Hashable, Sendable {
        let place: SocketPlace

        /// A UDP port.
        ///
        /// - Parameters:
        ///   - host: The numeric address of the interface, such as `127.0.0.1` or `::1`; nil for all interfaces, with IPv6 and
        ///     IPv4.
        ///   - port: The port. For 0 the kernel chooses a free port; see ``DatagramSocket/localAddress``.
        /// - Returns: The address.
        public static func udp(host: String? = nil, port: UInt16) -> Address {
            Address(place: .port(host: host, port: port))
        }

        /// A Unix socket in the file system.
        ///
        /// If the file of an earlier socket exists at the path and no process receives at that socket, the file is replaced. The
        /// file is removed when the socket ends. Your `umask` determines which users may send.
        ///
        /// - Parameter path: The path, of at most 107 bytes.
        /// - Returns: The address.
        public static func unix(path: String) -> Address { Address(place: .unix(path: path)) }

        /// A Unix socket outside the file system (an abstract socket, which only Linux has).
        ///
        /// Any user of the machine may send to it.
        ///
        /// - Parameter name: The name, of at most 107 bytes.
        /// - Returns: The address.
        public static func abstract(name: String) -> Address { Address(place: .abstract(name: name)) }

        /// An address that you have, such as the ``DatagramSocket/localAddress`` of another socket.
        ///
        /// - Parameter address: The address. A path behaves as with ``unix(path:)``.
        /// - Returns: The address to receive at.
        public static func address(_ address: SocketAddress) -> Address {
            address.path.map { .unix(path: $0) } ?? Address(place: .address(address))
        }
    }
}

extension DatagramSocket.Address: CustomStringConvertible {
    /// The address as text: for UDP, the port, after the host if there is one; for a Unix socket, the path or the name.
    public var description: String { place.description }
}

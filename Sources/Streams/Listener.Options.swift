extension Listener {
    /// The settings and limits of a listener.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The maximum number of connections that the kernel queues until they are accepted; 1,024 by default.
        ///
        /// The system sets an upper limit on this number, usually 4,096 (`net.core.somaxconn`).
        public var backlog = 1024

        /// True if other listeners, in this process or in others, may use the same port; false by default.
        ///
        /// The kernel distributes connections among the listeners, so each loop can have a listener of its own. Each listener has
        /// its own backlog, which the kernel resets when that listener is invalidated.
        public var reusesPort = false

        /// True if a listener on an IPv6 address also accepts IPv4 connections; true by default.
        public var takesIPv4 = true

        /// The maximum number of open connections of the listener; nil for any number, which is the default.
        ///
        /// At the limit, the listener accepts no more until one of its connections ends. Until then, further connections wait in
        /// the backlog.
        public var connectionLimit: Int?

        /// The maximum number of open connections of one peer; nil for any number, which is the default.
        ///
        /// A peer is an IPv4 address, or the /64 network of an IPv6 address, because one host may use any address of its network.
        /// Link-local addresses count individually. A connection beyond the limit is reset immediately. The limit does not apply to
        /// Unix sockets.
        public var connectionLimitPerPeer: Int?

        /// True if Nagle's algorithm is off for accepted TCP connections, so that small writes are sent immediately; true by
        /// default.
        public var sendsWithoutDelay = true

        /// True if the kernel sends TCP keep-alive probes on idle accepted connections, at the system's intervals; false by
        /// default.
        public var keepsAlive = false

        /// Makes the default settings.
        public init() {}
    }

    /// The counts of a listener's connections and pauses.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The number of connections that were passed to the handler.
        public internal(set) var accepted = 0
        /// The number of connections that were reset because their peer was at ``Options/connectionLimitPerPeer``.
        public internal(set) var refusedPeers = 0
        /// The number of connections that were closed because the process was out of descriptors.
        public internal(set) var refusedForDescriptors = 0
        /// The number of times that the listener has paused, for instance because the kernel was out of descriptors or memory.
        public internal(set) var pauses = 0
        /// The number of times that the open connections have reached ``Options/connectionLimit``.
        public internal(set) var timesFull = 0
    }

    /// The address that a listener listens on.
    ///
    /// > Thread safety: a value.
    public struct Address: Hashable, Sendable {
        let place: SocketPlace

        /// A TCP port.
        ///
        /// - Parameters:
        ///   - host: The numeric address of the interface, such as `127.0.0.1` or `::1`; nil for all interfaces, with IPv6 and
        ///     IPv4.
        ///   - port: The port. For 0 the kernel chooses a free port; see ``Listener/localAddress``.
        /// - Returns: The address.
        public static func tcp(host: String? = nil, port: UInt16) -> Address {
            Address(place: .port(host: host, port: port))
        }

        /// A Unix socket in the file system.
        ///
        /// If the file of an earlier socket exists at the path and no process listens on that socket, the file is replaced. If a
        /// process still listens on it, opening fails with `EADDRINUSE`. The file is removed when the listener is invalidated. Your
        /// `umask` determines which users may connect.
        ///
        /// - Parameter path: The path, of at most 107 bytes.
        /// - Returns: The address.
        public static func unix(path: String) -> Address { Address(place: .unix(path: path)) }

        /// A Unix socket outside the file system (an abstract socket, which only Linux has).
        ///
        /// Any user of the machine may connect.
        ///
        /// - Parameter name: The name, of at most 107 bytes.
        /// - Returns: The address.
        public static func abstract(name: String) -> Address { Address(place: .abstract(name: name)) }

        /// An address that you have, such as the ``Listener/localAddress`` of another listener.
        ///
        /// - Parameter address: The address. A path behaves as with ``unix(path:)``.
        /// - Returns: The address to listen on.
        public static func address(_ address: SocketAddress) -> Address { Address(place: .address(address)) }
    }
}

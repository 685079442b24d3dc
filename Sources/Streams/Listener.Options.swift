extension Listener {
    /// The settings and limits of a listener.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The number of connections that the kernel keeps until they are accepted; the system has a limit of its own, mostly
        /// 4,096.
        public var backlog: CInt = 1024

        /// True if several listeners, of this process or others, may have one port.
        ///
        /// The kernel spreads the connections. So each loop can have a listener of its own.
        public var reusesPort = false

        /// True if a listener on an IPv6 address takes IPv4 connections, too.
        public var takesIPv4 = true

        /// The most connections of the listener that are open at a time; nil for any number.
        ///
        /// At the limit the listener accepts no more until one of them ends. The others wait in the backlog.
        public var connectionLimit: Int?

        /// The most connections that one IP address may have open at a time; nil for any number.
        ///
        /// A connection beyond the limit is reset at once. The limit does not apply to Unix sockets.
        public var connectionLimitOfPeer: Int?

        /// True if each write is sent at once, even if it is small: the Nagle algorithm is off.
        public var sendsWithoutDelay = true

        /// True if the kernel asks the peer of an idle connection, after a time that the system sets, whether it is there
        /// still.
        public var keepsAlive = false

        /// Makes the default settings.
        public init() {}
    }

    /// The counts of a listener.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// Connections that were given to the handler.
        public internal(set) var accepted = 0
        /// Connections that were reset because their peer had as many as it may have.
        public internal(set) var refusedPeers = 0
        /// Connections that were closed because the process may open no more descriptors.
        public internal(set) var refusedForDescriptors = 0
        /// Pauses because the kernel was out of descriptors or memory.
        public internal(set) var pauses = 0
        /// Times that the limit of connections was reached.
        public internal(set) var timesFull = 0
    }

    /// The place that a listener listens at.
    ///
    /// > Thread safety: a value.
    public struct Address: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case tcp(host: String?, port: UInt16)
            case unix(path: String)
            case abstract(name: String)
        }

        let kind: Kind

        /// A TCP port.
        ///
        /// - Parameters:
        ///   - host: The numeric address of the interface, such as `127.0.0.1` or `::1`; nil for all interfaces, with IPv6 and
        ///     IPv4.
        ///   - port: The port; 0 for any free one, which ``Listener/localAddress`` tells.
        /// - Returns: The place.
        public static func tcp(host: String? = nil, port: UInt16) -> Address {
            Address(kind: .tcp(host: host, port: port))
        }

        /// A Unix socket in the file system.
        ///
        /// A file that a listener has left which is no more is replaced. The file is removed when the listener is invalidated.
        /// Your `umask` decides who may connect.
        ///
        /// - Parameter path: The path, of at most 107 bytes.
        /// - Returns: The place.
        public static func unix(path: String) -> Address { Address(kind: .unix(path: path)) }

        /// A Unix socket outside the file system, as only Linux has it.
        ///
        /// Any user of the machine may connect.
        ///
        /// - Parameter name: The name, of at most 107 bytes.
        /// - Returns: The place.
        public static func abstract(name: String) -> Address { Address(kind: .abstract(name: name)) }
    }
}

extension Connection {
    /// The limits and time-outs of a connection.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The time after which a connection over which no byte is sent or received ends; nil for never, which is the default.
        public var idleTimeout: Duration?

        /// The time within which a connection must be made, with the resolution of the name and all addresses; nil for any.
        public var connectTimeout: Duration? = .seconds(10)

        /// The time for which the kernel may take no byte of what was written; nil for any.
        public var writeTimeout: Duration? = .seconds(30)

        /// The time for which a connection that is closing waits for the peer to close, too, after its last byte was sent.
        ///
        /// A socket that is closed while the peer still sends resets the connection, and the peer may lose what it has not
        /// read. So ``Connection/closeAfterWriting()`` reads and discards what comes, at most for this time.
        public var lingerTimeout: Duration = .seconds(2)

        /// The number of unconsumed bytes at which the connection ends; for the handlers of ``Connection/onReceive(_:)``.
        ///
        /// A frame has its own limit.
        public var inputLimit = 1 << 20

        /// The number of unsent bytes above which ``Connection/write(_:)-([UInt8])`` returns false, until they have fallen to
        /// half of it; 64 KiB by default.
        public var highWaterMark = 64 << 10

        /// The number of unsent bytes at which the next write ends the connection, because the peer reads too slowly; 4 MiB by
        /// default.
        ///
        /// The unsent bytes exceed it by one write at most.
        public var outputLimit = 4 << 20

        /// Makes the default limits and time-outs.
        public init() {}
    }
}

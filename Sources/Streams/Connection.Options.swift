extension Connection {
    /// The limits and time-outs of a connection.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The time without a sent or received byte after which the connection ends; nil, the default, for no limit.
        public var idleTimeout: Duration?

        /// The time within which the connection must be made, counted from when it is first added to a loop; 10 seconds by
        /// default, nil for no limit.
        ///
        /// The time includes the resolution of the name, the attempts at all addresses, and the hand-shake of TLS. For an
        /// accepted connection with TLS, it is the time of the hand-shake.
        public var connectTimeout: Duration? = .seconds(10)

        /// The time after which the connection ends if the kernel accepts no unsent byte; 30 seconds by default, nil for no
        /// limit.
        public var writeTimeout: Duration? = .seconds(30)

        /// The maximum time that a closing connection waits for the peer to close its side, counted from the last sent byte; 2
        /// seconds by default.
        ///
        /// Closing a socket while the peer still sends resets the connection, and the peer may lose bytes that it has not read.
        /// So ``Connection/closeAfterWriting()`` reads and discards input for at most this time.
        public var lingerTimeout: Duration = .seconds(2)

        /// The limit on the bytes that the handler of ``Connection/onReceive(_:)`` leaves unconsumed; 1 MiB by default.
        ///
        /// If the handler leaves this number of bytes or more, the connection ends. For frames, the limit of the ``Framing``
        /// applies instead.
        public var inputLimit = 1 << 20

        /// The number of unsent bytes above which ``Connection/write(_:)-([UInt8])`` returns false, until they have fallen to
        /// half of it; 64 KiB by default.
        public var highWaterMark = 64 << 10

        /// The limit on the unsent bytes; 4 MiB by default.
        ///
        /// A write that finds this many unsent bytes or more first offers them to the kernel. If the limit is still reached,
        /// the peer reads too slowly, and the connection ends. One write may exceed the limit.
        public var outputLimit = 4 << 20

        /// Makes the default limits and time-outs.
        public init() {}
    }
}

extension Connection {
    /// The limits and time-outs of a connection.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The time without a sent or received byte after which the connection ends; nil for no limit, which is the default.
        public var idleTimeout: Duration?

        /// The maximum time for making the connection; 10 seconds by default, nil for no limit.
        ///
        /// The time begins when the connection is first added to a loop. It includes the resolution of the name, the attempts at
        /// all addresses, and the hand-shake of TLS. For an accepted connection with TLS, it is the time of the hand-shake.
        public var connectTimeout: Duration? = .seconds(10)

        /// The maximum time that unsent bytes wait while the kernel accepts none of them; 30 seconds by default, nil for no limit.
        ///
        /// When this time has passed, the connection ends.
        public var writeTimeout: Duration? = .seconds(30)

        /// The maximum time that a closing connection waits for the peer to close its side; 2 seconds by default, nil for no
        /// limit.
        ///
        /// The time begins when the last byte has been sent.
        ///
        /// If a socket is closed while the peer still sends, the kernel resets the connection, and the peer may lose bytes that it
        /// has not read. So ``Connection/closeAfterWriting()`` reads and discards input for at most this time. Without a limit, a peer
        /// that never closes its side keeps the connection.
        public var lingerTimeout: Duration? = .seconds(2)

        /// The limit on the bytes that the handler of ``Connection/onReceive(_:)`` leaves unconsumed; 1 MiB by default.
        ///
        /// If the handler leaves this many bytes or more, the connection ends. For frames, the limit of the ``Framing`` applies
        /// instead.
        public var inputLimit = 1 << 20

        /// The number of unsent bytes above which ``Connection/write(_:)-([UInt8])`` returns false; 64 KiB by default.
        ///
        /// Once the number has exceeded this mark, each write returns false until the number has fallen to half of the mark.
        public var highWaterMark = 64 << 10

        /// The limit on the number of unsent bytes; 4 MiB by default.
        ///
        /// If there are this many unsent bytes or more, a write first offers them to the kernel. If the limit is still reached
        /// after that, the peer reads too slowly, and the connection ends. The bytes of a single write may exceed the limit.
        public var outputLimit = 4 << 20

        /// Makes the default limits and time-outs.
        public init() {}
    }
}

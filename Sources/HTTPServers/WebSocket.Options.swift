#if HTTPServers
    internal import Streams

    extension WebSocket {
        /// The limits of a WebSocket.
        ///
        /// > Thread safety: a value.
        public struct Options: Hashable, Sendable {
            /// The maximum number of bytes of a message that the client sends, with all its frames; 1 MiB by default, nil for no limit.
            ///
            /// A client that sends a longer message is told ``CloseCode/messageTooBig``, and its connection is closed.
            public var messageByteLimit: Int? = 1 << 20

            /// The maximum time that a WebSocket which your code closes waits for the client to close, too; 5 seconds by default, nil for
            /// no limit.
            public var closeTimeout: Duration? = .seconds(5)

            /// The time without a sent or received byte after which the connection ends; nil for no limit, which is the default.
            ///
            /// Browsers send nothing by themselves. Call ``WebSocket/ping(_:)`` from time to time, more often than this.
            public var idleTimeout: Duration?

            /// The number of unsent bytes above which ``WebSocket/send(_:)-([UInt8])`` returns false; 64 KiB by default.
            public var highWaterMark = 64 << 10

            /// The limit on the number of unsent bytes; 4 MiB by default.
            ///
            /// If it is reached, the client reads too slowly, and the connection ends.
            public var outputLimit = 4 << 20

            /// Makes the default limits.
            public init() {}

            var connection: Connection.Options {
                var limits = Connection.Options()
                limits.idleTimeout = idleTimeout
                limits.highWaterMark = highWaterMark
                limits.outputLimit = outputLimit
                return limits
            }
        }
    }
#endif

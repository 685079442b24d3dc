#if HTTPServers
    public import Streams

    extension HTTPServer {
        /// The limits and settings of a server.
        ///
        /// A limit of nil is none.
        ///
        /// > Thread safety: a value.
        public struct Options: Sendable {
            /// The maximum number of connections that may be open at a time; 1,000.
            ///
            /// At the limit, the server accepts no more connections until one of its connections ends. Further connections wait in
            /// the backlog.
            public var connectionLimit: Int? = 1_000

            /// The maximum number of connections that one peer may have open at a time; nil, which is the default, for no limit.
            ///
            /// A peer is an IPv4 address, or the /64 network of an IPv6 address. A connection beyond the limit is reset immediately.
            /// Set the limit if clients reach the server directly: a proxy has one address for all its clients. The limit does not
            /// apply to Unix sockets.
            public var connectionLimitPerPeer: Int?

            /// The maximum number of bytes of the header of a request, with its first line; 16 KiB.
            ///
            /// A client that sends a longer header gets status 431, or 414 if the first line alone is too long. It also gets status
            /// 431 for more than 128 fields.
            public var headerLimit: Int? = 16 << 10

            /// The maximum number of bytes of the body of a request; 2 MiB.
            ///
            /// A client that sends a longer body gets status 413. The limit does not apply to a body that
            /// ``HTTPServer/onHeader(_:)`` streams.
            public var bodyLimit: Int? = 2 << 20

            /// The time in which the header of a request must be received; 10 seconds.
            ///
            /// For the first request of a connection, the time begins when the connection is accepted, and includes the hand-shake
            /// of TLS. For a later request, it begins with the first byte. A client does not get more time by sending a byte now and
            /// then. The server closes the connection when the time has passed.
            public var headerTimeout: Duration? = .seconds(10)

            /// The time in which the body of a request must be received; 60 seconds.
            ///
            /// The limit does not apply to a body that ``HTTPServer/onHeader(_:)`` streams.
            public var bodyTimeout: Duration? = .seconds(60)

            /// The time after which a connection without traffic is closed; 30 seconds.
            ///
            /// While a client waits for the response of your code, or receives a response, this time does not run. A client that does not
            /// read anything of its response for this time loses its connection.
            public var idleTimeout: Duration? = .seconds(30)

            /// What secures the connections, such as a `TLSServerContext` of TLSStreams, for HTTPS; nil for HTTP.
            public var tls: (any ServerSecurity)?

            /// True if other servers, in this process or in others, may use the same port; false by default.
            ///
            /// The kernel distributes connections among them, so each loop can have a server of its own.
            public var reusesPort = false

            /// The maximum number of connections that the kernel queues until they are accepted; 1,024 by default.
            public var backlog = 1_024

            /// Creates options with the default values.
            public init() {}
        }

        /// The numbers of connections, requests and responses that a server has counted.
        ///
        /// > Thread safety: a value.
        public struct Statistics: Hashable, Sendable {
            /// The number of connections that were accepted.
            public internal(set) var connections = 0
            /// The number of requests whose first line was received.
            public internal(set) var requests = 0
            /// The number of requests that the server itself has refused, because they broke the rules of HTTP or exceeded a limit.
            public internal(set) var refusedRequests = 0
            /// The number of connections that were closed because a header or a body took too long.
            public internal(set) var slowConnections = 0
            /// The number of responses that were sent completely.
            public internal(set) var sentResponses = 0
        }
    }
#endif

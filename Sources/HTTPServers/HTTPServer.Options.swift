extension HTTPServer {
    /// The limits of a server.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The maximum number of connections that may be open at a time; 1,000.
        ///
        /// At the limit, the server accepts no more connections until one of its connections ends. Further connections wait in the
        /// backlog.
        public var connectionLimit = 1_000

        /// The maximum number of connections that one IP address may have open at a time; nil for no limit, which is the default.
        ///
        /// A connection beyond the limit is closed immediately. Set the limit if clients reach the server directly: a proxy has one
        /// address for all its clients. The limit does not apply to Unix sockets.
        public var connectionLimitOfPeer: Int?

        /// The number of bytes of memory that each connection may use; 16 KiB.
        ///
        /// The first line and the fields of a request must fit into it. A client that sends a longer header gets status 431, or 414
        /// if the first line alone is too long.
        public var connectionMemory = 16 << 10

        /// The maximum number of bytes of the body of a request; 2 MiB.
        ///
        /// A client that sends a longer body gets status 413. The limit does not apply to a body that ``HTTPServer/onHeader(_:)``
        /// streams.
        public var bodyLimit = 2 << 20

        /// The time in which the header of a request must be received; 10 seconds.
        ///
        /// For the first request of a connection, the time begins when the connection is accepted. For a later request, it begins
        /// when ``idleTimeout`` has passed since the end of the previous request.
        ///
        /// A client does not get more time by sending a byte now and then. The server closes the connection when the time has
        /// passed, or up to an eighth of the time later.
        public var headerTimeout: Duration = .seconds(10)

        /// The time in which the body of a request must be received; 60 seconds.
        ///
        /// The limit does not apply to a body that ``HTTPServer/onHeader(_:)`` streams.
        public var bodyTimeout: Duration = .seconds(60)

        /// The time after which a connection without traffic is closed, rounded up to seconds; 30 seconds.
        ///
        /// While a client waits for the answer of your code, this time does not run.
        public var idleTimeout: Duration = .seconds(30)

        /// The certificate of the server, for HTTPS; nil for HTTP.
        public var identity: Identity?

        /// Creates options with the default values.
        public init() {}
    }

    /// A certificate of a server, and its key.
    ///
    /// > Thread safety: a value.
    public struct Identity: Hashable, Sendable {
        /// The certificate and its intermediate certificates, in PEM.
        public var certificate: String
        /// The private key, in PEM.
        public var key: String

        /// Creates an identity.
        ///
        /// - Parameters:
        ///   - certificate: The certificates, in PEM.
        ///   - key: The private key, in PEM.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The numbers of connections, requests and answers that a server has counted.
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
        /// The number of answers that were sent completely.
        public internal(set) var sentAnswers = 0
    }
}

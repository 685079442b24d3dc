extension HTTPClient {
    /// The limits and defaults of a client.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The time limit for making a connection, including name resolution and the TLS hand-shake; 10 seconds.
        public var connectTimeout: Duration = .seconds(10)

        /// The time without sent or received bytes after which a transfer ends; 60 seconds.
        ///
        /// The transfer ends after this time, or up to an eighth later. Time does not count while the transfer is paused, while
        /// your code has not written the next bytes of the request's body, or while the transfer waits for a free connection.
        public var idleTimeout: Duration = .seconds(60)

        /// The maximum number of redirects that a request follows; 10.
        ///
        /// With 0, an answer that redirects is delivered like any other answer.
        public var redirectLimit = 10

        /// The maximum number of bytes of an answer's body, counted after decompression; 64 MiB.
        ///
        /// With nil, there is no limit.
        public var bodyLimit: Int? = 64 << 20

        /// The maximum number of bytes in the header of an answer; 256 KiB.
        ///
        /// The bytes of trailers and of the headers of interim answers are counted, too.
        public var headerLimit = 256 << 10

        /// The maximum number of connections to one host; 6.
        ///
        /// Further transfers wait for a free connection.
        public var connectionsPerHost = 6

        /// The maximum number of connections to all hosts together; nil for no limit, which is the default.
        public var connections: Int?

        /// True if the client accepts all compressions that libcurl supports, and decodes the bodies; true by default.
        public var acceptsCompression = true

        /// The versions of HTTP that the client offers.
        public var versions = Versions.automatic

        /// The proxy that all transfers use; the one from the environment by default.
        public var proxy = Proxy.environment

        /// The path of a PEM file with the certificate authorities to trust; nil for those of the system.
        public var authorities: String?

        /// The certificate that the client shows to servers that ask for one; nil for none.
        public var identity: Identity?

        /// The value of the `User-Agent` field; nil for none.
        public var userAgent: String?

        /// Creates options with the default values.
        public init() {}
    }

    /// The versions of HTTP that a client offers.
    public enum Versions: Hashable, Sendable {
        /// HTTP/2 over TLS where the server offers it; otherwise HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http1
    }

    /// The proxy of a client.
    public enum Proxy: Hashable, Sendable {
        /// The proxy that the environment names for the URL, in `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        case environment
        /// No proxy.
        case none
        /// The proxy with this URL.
        case url(String)
    }

    /// A certificate of a client, and its key.
    public struct Identity: Hashable, Sendable {
        /// The path of the certificate, in PEM.
        public var certificate: String
        /// The path of the private key, in PEM.
        public var key: String

        /// Creates an identity.
        ///
        /// - Parameters:
        ///   - certificate: The path of the certificate, in PEM.
        ///   - key: The path of the private key, in PEM.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }
}

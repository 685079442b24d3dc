internal import Glibc
internal import RunLoops
public import TLSValues

extension HTTPClient {
    /// The limits and defaults of a client.
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The time limit for making a connection, including name resolution and the TLS hand-shake; 10 seconds.
        ///
        /// With nil, there is no limit, but the one of the system for each attempt to connect.
        public var connectTimeout: Duration? = .seconds(10)

        /// The time without sent or received bytes after which a transfer ends; 60 seconds.
        ///
        /// The transfer ends after this time, or up to an eighth later. Time does not count while the transfer is paused, while
        /// your code has not written the next bytes of the request's body, or while the transfer waits for a free connection. With nil,
        /// there is no limit.
        public var idleTimeout: Duration? = .seconds(60)

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
        /// The bytes of trailers and of the headers of interim answers are counted, too. All of them together have at most 1,024 lines,
        /// whatever this limit is, and libcurl takes no line of more than some 100 KiB.
        public var headerLimit = 256 << 10

        /// The maximum number of bytes of headers and bodies that the client stores for all its transfers together; 32 MiB.
        ///
        /// One half is for headers, the other one for bodies. At the limit, bodies wait in their connections, so that servers have to
        /// wait, and a transfer that receives a header ends with ``HTTPClientError/Reason/headerTooLarge``. If more than half of a
        /// half is stored, a transfer stores at most 8 KiB of its header and 16 KiB of its body. With nil, only the limits of each
        /// transfer apply: ``headerLimit``, and some 128 KiB of a body.
        public var inputLimit: Int? = 32 << 20

        /// The maximum number of connections to one host; 6.
        ///
        /// Further transfers wait for a free connection.
        public var connectionLimitPerHost = 6

        /// The maximum number of connections to all hosts together; 256.
        ///
        /// Further transfers wait for a free connection. With nil, there is no limit.
        public var connectionLimit: Int? = 256

        /// True if the client accepts bodies that are compressed with `gzip` or `deflate`, and decompresses them; true by default.
        ///
        /// Bodies are decompressed in small steps, right before they are delivered. If you set `Accept-Encoding` in a request, a body
        /// in another compression is delivered as it arrives. A request with a `Range` asks for a part without compression.
        public var acceptsCompression = true

        /// The versions of HTTP that the client offers.
        public var versions = Versions.automatic

        /// The proxy that all transfers use; the one from the environment by default.
        public var proxy = Proxy.environment

        /// The path of a Unix socket to which all connections are made, whatever the hosts of the URLs are; nil for none.
        ///
        /// The host of a URL is then only what the `Host` field says: `http://localhost/containers/json`. Names are not resolved, no
        /// proxy is used, and a redirect leads to the same socket. ``connectionLimitPerHost`` counts the hosts of the URLs. The
        /// path has at most 107 bytes.
        public var unixSocketPath: String?

        /// The certificate issuers that the client trusts; by default, the issuers that the system trusts.
        ///
        /// Text that is not PEM ends a transfer over `https` with ``HTTPClientError/Reason/tlsFailed``.
        public var trust = TLSTrust.system

        /// The certificate and key that the client shows to servers that ask for one; nil for none.
        ///
        /// Text that is not PEM ends a transfer over `https` with ``HTTPClientError/Reason/tlsFailed``.
        public var identity: TLSIdentity?

        /// The value of the `User-Agent` field; nil for none.
        public var userAgent: String?

        /// Creates options with the default values.
        public init() {}
    }

    /// The versions of HTTP that a client offers.
    @nonexhaustive
    public enum Versions: Hashable, Sendable {
        /// HTTP/2 over TLS where the server offers it; otherwise HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http1
    }

    /// The proxy of a client.
    @nonexhaustive
    public enum Proxy: Hashable, Sendable {
        /// The proxy that the environment names for the URL, in `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        case environment
        /// No proxy.
        case none
        /// The proxy with this URL.
        case url(String)
    }
}

extension HTTPClient.Options {
    /// Throws an error if the path of the Unix socket cannot be one.
    func checkUnixSocketPath() throws(SystemError) {
        guard let path = unixSocketPath else { return }
        if path.isEmpty || path.utf8.contains(0) { throw SystemError(call: "connect", code: EINVAL) }
        if path.utf8.count > 107 { throw SystemError(call: "connect", code: ENAMETOOLONG) }
    }

    /// The time limit for making a connection, with the longest time in place of none.
    var connectLimit: Duration { connectTimeout ?? .milliseconds(Int32.max) }
}

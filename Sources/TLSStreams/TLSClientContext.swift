internal import CSecureStreams
public import TLSValues

/// The settings of a TLS client.
///
/// One context serves any number of connections, on any number of loops.
///
/// ```swift
/// let context = try TLSClientContext()
/// let connection = Connection(connectingTo: .tcp(host: "example.org", port: 443), tls: context)
/// ```
///
/// The server's certificate is always verified: its issuer, its dates and its name.
///
/// > Thread safety: any thread.
public final class TLSClientContext: Sendable {
    /// The settings of a TLS client.
    ///
    /// > Thread safety: a value.
    public struct Options: Sendable {
        /// The versions of TLS that the client speaks; 1.2 and 1.3 by default.
        ///
        /// Older versions are never used.
        public var versions = TLSVersion.tls12...TLSVersion.tls13

        /// The certificate issuers that the client trusts; by default, the issuers that the system trusts.
        ///
        /// The environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR` can name others instead of those of the system.
        public var trust = TLSTrust.system

        /// The certificate and key that the client sends to servers that ask for a certificate; nil by default.
        public var identity: TLSIdentity?

        /// The application protocols that the client offers, such as `h2` and `http/1.1`, in the order of preference (ALPN).
        public var applicationProtocols: [String] = []

        /// The maximum number of TLS sessions that the client keeps, to resume them later; 100 by default, 0 for none.
        ///
        /// The client keeps at most one session for each server name.
        public var sessionLimit = 100

        /// Makes the default settings.
        public init() {}
    }

    let handle: ContextHandle
    let sessions: SessionStore

    /// Makes a context.
    ///
    /// - Parameter options: The settings.
    /// - Throws: ``TLSSetupError`` if the identity or the trusted issuers are not in PEM, or OpenSSL refuses the identity or a setting.
    public init(options: Options = Options()) throws(TLSSetupError) {
        handle = try ContextHandle(client: options)
        sessions = SessionStore(limit: options.sessionLimit)
    }
}

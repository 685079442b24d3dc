internal import CSecureStreams
internal import RunLoops

/// The identity and settings of a server that speaks TLS, for any number of connections on any number of loops.
///
/// ```swift
/// let context = try TLSServerContext(identity)
/// try loop.add(listener, forMode: .default) { accepted in
///     serve(Connection(accepted, tls: context))
/// }
/// ```
///
/// > Thread safety: any thread.
public final class TLSServerContext: Sendable {
    /// The settings of a server.
    ///
    /// > Thread safety: a value.
    public struct Options: Sendable {
        /// The versions of TLS that the server speaks; 1.2 and 1.3 by default.
        ///
        /// Older versions are never used.
        public var versions = TLSVersion.tls12...TLSVersion.tls13

        /// The application protocols that the server speaks, such as `h2` and `http/1.1`, in the order of preference (ALPN).
        ///
        /// If the list is not empty, a client that offers only other protocols is refused with
        /// ``/Streams/TLSError/Cause/noCommonApplicationProtocol``. A client that offers no protocols is served.
        public var applicationProtocols: [String] = []

        /// Further identities, by the server names that clients ask for (SNI).
        ///
        /// A name may begin with `*.`, where the star stands for one label.
        public var identities: [String: TLSIdentity] = [:]

        /// True if a client that asks for a name without an entry in ``identities`` is refused; false by default.
        ///
        /// If this is false, such a client gets the identity of the context.
        public var refusesUnknownNames = false

        /// The certificates that the server asks its clients for; none by default.
        public var clientCertificates = ClientCertificates.ignored

        /// The time for which a client may resume a session instead of making a full hand-shake; 2 hours by default.
        public var sessionLifetime: Duration = .seconds(7200)

        /// The number of tickets for resumption that a client gets with TLS 1.3; 2 by default, 0 for no resumption.
        ///
        /// The ticket of a session contains its encrypted state, so sessions cost the server no memory.
        public var ticketCount = 2

        /// Makes the default settings.
        public init() {}
    }

    /// The certificates that a server asks its clients for.
    ///
    /// > Thread safety: a value.
    public enum ClientCertificates: Sendable {
        /// The server asks for no certificate.
        case ignored
        /// A client may send a certificate, which must then be from a trusted issuer.
        case requested(TLSTrust)
        /// A client must send a certificate from a trusted issuer.
        case required(TLSTrust)
    }

    private let current: Guarded<Current>

    private struct Current: Sendable {
        var handle: ContextHandle
        var options: Options
    }

    /// Makes a context.
    ///
    /// - Parameters:
    ///   - identity: The identity of the server.
    ///   - options: The settings.
    /// - Throws: ``TLSSetupError`` if OpenSSL refuses an identity or a setting.
    public init(_ identity: TLSIdentity, options: Options = Options()) throws(TLSSetupError) {
        current = Guarded(Current(handle: try ContextHandle(server: identity, options), options: options))
    }

    /// Replaces the identity, and the settings if given, for later connections.
    ///
    /// Existing connections keep the identity and settings that they began with, and are not disturbed. Earlier sessions are not
    /// resumed: their clients make a full hand-shake.
    ///
    /// - Parameters:
    ///   - identity: The new identity.
    ///   - options: The new settings; nil to keep the current ones.
    /// - Throws: ``TLSSetupError`` if OpenSSL refuses an identity or a setting. The context is then not changed.
    public func reload(_ identity: TLSIdentity, options: Options? = nil) throws(TLSSetupError) {
        let options = options ?? current.withLock { $0.options }
        let handle = try ContextHandle(server: identity, options)
        let old = current.withLock { current in
            defer { current = Current(handle: handle, options: options) }
            return current
        }
        // The old handle is released outside the lock.
        withExtendedLifetime(old) {}
    }

    /// The handle for new connections.
    var handle: ContextHandle { current.withLock { $0.handle } }
}

internal import CSecureStreams
internal import RunLoops
public import Streams
public import TLSValues

/// The identity and settings of a TLS server.
///
/// One context serves any number of connections, on any number of loops.
///
/// ```swift
/// let context = try TLSServerContext(identity)
/// try loop.add(listener, forMode: .default) { accepted in
///     serve(Connection(accepted, tls: context))
/// }
/// ```
///
/// > Thread safety: any thread.
public final class TLSServerContext: ServerSecurity {
    /// The settings of a TLS server.
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
        /// ``/Streams/TLSError/Reason/noCommonApplicationProtocol``. A client that offers no protocols is served.
        public var applicationProtocols: [String] = []

        /// Identities for particular server names, with the names that clients ask for (SNI) as the keys.
        ///
        /// A name may begin with `*.`, where the star stands for one label, such as `www`.
        public var identities: [String: TLSIdentity] = [:]

        /// True if the server refuses clients that ask for a name without an entry in ``identities``; false by default.
        ///
        /// If this is false, such clients get the identity of the context.
        public var refusesUnknownNames = false

        /// The way in which the server asks its clients for certificates; by default, it asks for none.
        public var clientCertificates = ClientCertificates.ignored

        /// The time for which a client may resume a TLS session instead of making a full hand-shake; 2 hours by default.
        public var sessionLifetime: Duration = .seconds(7200)

        /// The number of session tickets that a TLS 1.3 client gets, to resume its session later; 2 by default, 0 for no
        /// resumption, at most 255.
        ///
        /// A ticket contains the encrypted state of the session, so sessions cost the server no memory.
        public var ticketCount = 2

        /// Makes the default settings.
        public init() {}
    }

    /// The ways in which a server asks its clients for certificates.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
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
    /// - Throws: ``TLSSetupError`` if an identity or a trusted issuer is not in PEM, or OpenSSL refuses an identity or a setting.
    public init(_ identity: TLSIdentity, options: Options = Options()) throws(TLSSetupError) {
        current = Guarded(Current(handle: try ContextHandle(server: identity, options), options: options))
    }

    /// Replaces the identity, and optionally the settings, for later connections.
    ///
    /// Existing connections are not disturbed: they keep the identity and settings that they began with. Sessions from before the
    /// call cannot be resumed, so their clients make a full hand-shake.
    ///
    /// - Parameters:
    ///   - identity: The new identity.
    ///   - options: The new settings; nil to keep the current ones.
    /// - Throws: ``TLSSetupError`` as the initializer does. The context is then not changed.
    public func reload(_ identity: TLSIdentity, options: Options? = nil) throws(TLSSetupError) {
        let options = options ?? current.withLock { $0.options }
        let handle = try ContextHandle(server: identity, options)
        let old = current.withLock { exchange(&$0, with: Current(handle: handle, options: options)) }
        // The old handle is released here, outside the lock.
        withExtendedLifetime(old) {}
    }

    /// Makes the layer that encrypts the bytes of one connection; servers call this.
    ///
    /// - Returns: The layer.
    public func makeLayer() -> SecurityLayer { SecurityLayer(TLSFilter(handle)) }

    /// The OpenSSL context for new connections.
    var handle: ContextHandle { current.withLock { $0.handle } }
}

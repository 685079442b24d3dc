internal import CSecureStreams
internal import RunLoops

/// The owner of an OpenSSL context (`SSL_CTX`), which contains the settings of TLS streams.
///
/// Each ``TLSFilter`` holds this object, so that the context outlives the filter's stream.
///
/// > Thread safety: any thread; nothing changes the object after its creation.
@safe
final class ContextHandle: Sendable {
    /// Safe: OpenSSL locks the parts of a context that several threads may change.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(server identity: TLSIdentity, _ options: TLSServerContext.Options) throws(TLSSetupError) {
        var settings = unsafe runloops_tls_settings()
        unsafe settings.is_server = true
        unsafe settings.takes_tls12 = options.versions.contains(.tls12)
        unsafe settings.takes_tls13 = options.versions.contains(.tls13)
        unsafe settings.identity = identity.handle.pointer
        unsafe settings.refuses_names = options.refusesUnknownNames
        unsafe settings.session_seconds = max(0, Int(options.sessionLifetime.components.seconds))
        unsafe settings.tickets = max(0, options.ticketCount)
        var trust: TrustHandle?
        switch options.clientCertificates {
        case .ignored: unsafe settings.asking = runloops_tls_asks_not
        case .requested(let trusted):
            unsafe settings.asking = runloops_tls_asks
            trust = trusted.handle
        case .required(let trusted):
            unsafe settings.asking = runloops_tls_requires
            trust = trusted.handle
        }
        unsafe settings.trust = trust?.pointer
        let made = unsafe try ContextHandle.make(settings, options.applicationProtocols)
        unsafe pointer = made
        for (name, identity) in options.identities.sorted(by: { $0.key < $1.key }) {
            var report = SetupReport()
            // Safe: the C function retains the OpenSSL objects that the identity holds.
            let isAdded = unsafe runloops_tls_add_name(
                made, name, identity.handle.pointer, &report.problem, &report.words)
            if !isAdded { throw report.error(about: "identity of \(name)") }
        }
        withExtendedLifetime((identity, options, trust)) {}
    }

    init(client options: TLSClientContext.Options) throws(TLSSetupError) {
        var settings = unsafe runloops_tls_settings()
        unsafe settings.takes_tls12 = options.versions.contains(.tls12)
        unsafe settings.takes_tls13 = options.versions.contains(.tls13)
        unsafe settings.identity = options.identity?.handle.pointer
        unsafe settings.trust = options.trust.handle?.pointer
        unsafe settings.session_seconds = 7200
        unsafe settings.tickets = max(0, options.sessionLimit)
        unsafe pointer = try ContextHandle.make(settings, options.applicationProtocols)
        withExtendedLifetime(options) {}
    }

    deinit { unsafe runloops_tls_free_context(pointer) }

    /// Creates an OpenSSL context with the given settings and application protocols.
    private static func make(
        _ settings: runloops_tls_settings, _ protocols: [String]
    ) throws(TLSSetupError) -> OpaquePointer {
        var wire: [UInt8] = []
        for name in protocols {
            guard (1...255).contains(name.utf8.count) else {
                throw TLSSetupError(
                    problem: .badProtocolName, source: "application protocol \"\(name)\"", details: "")
            }
            wire.append(UInt8(name.utf8.count))
            wire += Array(name.utf8)
        }
        var report = SetupReport()
        let made = unsafe wire.withUnsafeBytes { bytes in
            var settings = unsafe settings
            unsafe settings.protocols = bytes.baseAddress
            unsafe settings.protocols_count = bytes.count
            // Safe: the C function copies the protocols, and retains the objects that the other settings hold.
            return unsafe runloops_tls_context(settings, &report.problem, &report.words)
        }
        guard let made = unsafe made else { throw report.error(about: "TLS") }
        return unsafe made
    }
}

/// The TLS sessions that a client may resume; the keys are the names of the servers.
///
/// > Thread safety: any thread.
final class SessionStore: Sendable {
    private let limit: Int
    private let sessions = Guarded<[String: SessionHandle]>([:])

    init(limit: Int) { self.limit = limit }

    /// Removes the session of a server from the store, and returns it.
    ///
    /// The session is removed because a client offers each session only once.
    func take(_ name: String) -> SessionHandle? { sessions.withLock { $0.removeValue(forKey: name) } }

    /// Stores a session, which replaces an earlier session of the same server.
    ///
    /// If the store then has more than `limit` sessions, it discards the session of an arbitrary other server.
    func keep(_ session: SessionHandle, for name: String) {
        let released = sessions.withLock { sessions in
            var released = [sessions.updateValue(session, forKey: name)]
            while sessions.count > limit,
                let other = sessions.keys.first(where: { $0 != name }) ?? sessions.keys.first
            {
                released.append(sessions.removeValue(forKey: other))
            }
            return released
        }
        // The removed sessions are released here, outside the lock.
        withExtendedLifetime(released) {}
    }
}

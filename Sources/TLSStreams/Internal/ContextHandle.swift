internal import CSecureStreams
internal import RunLoops
internal import TLSValues

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
        let own = try IdentityHandle(identity)
        unsafe settings.identity = own.pointer
        unsafe settings.refuses_names = options.refusesUnknownNames
        unsafe settings.session_seconds = ContextHandle.seconds(options.sessionLifetime)
        unsafe settings.tickets = min(max(0, options.ticketCount), 255)
        var trust: TrustHandle?
        switch options.clientCertificates {
        case .ignored: unsafe settings.asking = runloops_tls_asks_not
        case .requested(let trusted):
            unsafe settings.asking = runloops_tls_asks
            trust = try trusted.makeHandle()
        case .required(let trusted):
            unsafe settings.asking = runloops_tls_requires
            trust = try trusted.makeHandle()
        }
        unsafe settings.trust = trust?.pointer
        let made = unsafe try ContextHandle.make(settings, options.applicationProtocols)
        unsafe pointer = made
        for (name, identity) in options.identities.sorted(by: { $0.key < $1.key }) {
            // The C function would take a name with a zero byte for a shorter name.
            if name.utf8.contains(0) {
                throw TLSSetupError(.failed, source: "identity of \(name)", details: "a zero byte")
            }
            let named = try IdentityHandle(identity)
            var report = SetupReport()
            // Safe: the C function retains the OpenSSL objects that the identity holds.
            let isAdded = unsafe runloops_tls_add_name(
                made, name, named.pointer, &report.problem, &report.words)
            withExtendedLifetime(named) {}
            if !isAdded { throw report.error(about: "identity of \(name)") }
        }
        withExtendedLifetime((own, trust)) {}
    }

    init(client options: TLSClientContext.Options) throws(TLSSetupError) {
        var settings = unsafe runloops_tls_settings()
        unsafe settings.takes_tls12 = options.versions.contains(.tls12)
        unsafe settings.takes_tls13 = options.versions.contains(.tls13)
        var identity: IdentityHandle?
        if let own = options.identity { identity = try IdentityHandle(own) }
        let trust = try options.trust.makeHandle()
        unsafe settings.identity = identity?.pointer
        unsafe settings.trust = trust?.pointer
        unsafe settings.session_seconds = 7200
        unsafe settings.tickets = max(0, options.sessionLimit)
        unsafe pointer = try ContextHandle.make(settings, options.applicationProtocols)
        withExtendedLifetime((identity, trust)) {}
    }

    deinit { unsafe runloops_tls_free_context(pointer) }

    /// Returns a time in whole seconds, clamped to what OpenSSL can write into a ticket.
    private static func seconds(_ time: Duration) -> Int {
        Int(min(max(time, .zero), .seconds(Int32.max)).components.seconds)
    }

    /// Creates an OpenSSL context with the given settings and application protocols.
    private static func make(
        _ settings: runloops_tls_settings, _ protocols: [String]
    ) throws(TLSSetupError) -> OpaquePointer {
        var wire: [UInt8] = []
        for name in protocols {
            guard (1...255).contains(name.utf8.count) else {
                throw TLSSetupError(.badProtocolName, source: "application protocol \"\(name)\"")
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

extension TLSTrust {
    /// Makes an OpenSSL store of the certificates; nil for the system's issuers.
    fileprivate func makeHandle() throws(TLSSetupError) -> TrustHandle? {
        guard let certificates else { return nil }
        return try TrustHandle(certificates)
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

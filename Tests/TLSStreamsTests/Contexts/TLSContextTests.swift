import CFaults
import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

@testable import TLSStreams

/// Identities, trust and contexts: their errors, and their replacement.
@Suite struct TLSContextTests {
    private func reason(_ body: () throws(TLSSetupError) -> Void) -> TLSSetupError.Reason? {
        do throws(TLSSetupError) {
            try body()
            return nil
        } catch { return error.reason }
    }

    /// The uses of an identity or of trust.
    private enum Use: CaseIterable {
        case server, name, client, reload

        func use(_ identity: TLSIdentity) throws(TLSSetupError) {
            switch self {
            case .server: _ = try TLSServerContext(identity)
            case .name:
                var options = TLSServerContext.Options()
                options.identities["localhost"] = identity
                _ = try TLSServerContext(Certificates.valid, options: options)
            case .client:
                var options = TLSClientContext.Options()
                options.identity = identity
                _ = try TLSClientContext(options: options)
            case .reload: try TLSServerContext(Certificates.valid).reload(identity)
            }
        }

        func use(_ trust: TLSTrust) throws(TLSSetupError) {
            if self == .client {
                var options = TLSClientContext.Options()
                options.trust = trust
                _ = try TLSClientContext(options: options)
            } else {
                var options = TLSServerContext.Options()
                options.clientCertificates = .required(trust)
                _ = try TLSServerContext(Certificates.valid, options: options)
            }
        }
    }

    @Test func `files that are not what they should be are refused by the context, by name`() throws {
        let path = Certificates.path
        let cases: [(String, String, String?, TLSSetupError.Reason?)] = [
            ("server.pem", "server.key", nil, nil),
            ("server.key", "server.key", nil, .noCertificate),
            ("server.pem", "server.pem", nil, .noKey),
            ("server.pem", "other.key", nil, .keyMismatch),
            ("server.pem", "locked.key", nil, .wrongPassphrase),
            ("server.pem", "locked.key", "wrong", .wrongPassphrase),
            ("server.pem", "locked.key", "secret", nil),
            ("config", "server.key", nil, .noCertificate),
        ]
        for (certificate, key, passphrase, expected) in cases {
            let identity = try TLSIdentity(
                certificateFile: path(certificate), keyFile: path(key), passphrase: passphrase)
            for use in Use.allCases {
                #expect(
                    reason { () throws(TLSSetupError) in try use.use(identity) } == expected,
                    "\(use) \(certificate) \(key)")
            }
        }
        let broken = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        let noCertificates = try TLSTrust(file: path("server.key"))
        for trust in [noCertificates, TLSTrust(certificates: broken)] {
            for use in Use.allCases where use != .reload && use != .name {
                #expect(reason { () throws(TLSSetupError) in try use.use(trust) } == .noCertificate)
            }
        }
        let mismatch = try TLSIdentity(certificateFile: path("server.pem"), keyFile: path("other.key"))
        do throws(TLSSetupError) { _ = try TLSServerContext(mismatch) } catch {
            #expect("\(error)".hasPrefix(path("other.key") + ": the key is not that of the certificate"))
        }
        func make() throws { _ = try TLSServerContext(mismatch) }
        do { try make() } catch TLSSetupError.Reason.noKey {
            Issue.record("another reason")
        } catch TLSSetupError.Reason.keyMismatch {}
    }

    @Test func `a weak key and a bad name of a protocol are refused by the context`() throws {
        let weak = try TLSIdentity(
            certificateFile: Certificates.path("weak.pem"), keyFile: Certificates.path("weak.key"))
        #expect(reason { () throws(TLSSetupError) in _ = try TLSServerContext(weak) } == .tooWeak)
        var options = TLSClientContext.Options()
        options.applicationProtocols = ["h2", ""]
        #expect(
            reason { () throws(TLSSetupError) in _ = try TLSClientContext(options: options) }
                == .badProtocolName)
    }

    @Test func `an identity is made of bytes, too`() throws {
        try onLoopThread { loop in
            let bytes = { (file: String) in
                try Files.read(Certificates.path(file))
            }
            let identity = try TLSIdentity(certificates: bytes("server.pem"), key: bytes("server.key"))
            var options = TLSClientContext.Options()
            options.trust = try TLSTrust(certificates: bytes("ca.pem"))
            let pair = try SecurePair(
                server: TLSServerContext(identity), client: TLSClientContext(options: options))
            try pair.connect(loop)
        }
    }

    /// Clients connect one after another while another thread replaces the certificate many times.
    // Guarantees: A reload drops no connection, and later connections have the new certificate.
    @Test func `a reload under load drops no connection, and later ones have the new certificate`()
        throws
    {
        let context = try Certificates.server()
        let isDone = Gate()
        let reloads = Shared()
        let hasStopped = Gate()
        try RunLoopThread.detach(name: "reloading") { _ in
            recorded {
                let identities = try [Certificates.identity(.server), Certificates.identity(.second)]
                while !isDone.wait(seconds: 0) {
                    try context.reload(identities[reloads.count % 2])
                    reloads.increment()
                }
            }
            hasStopped.open()
        }
        try onLoopThread { loop in
            let client = try Certificates.client()
            // These connections stay open during all reloads.
            let old = try (0..<3).map { _ in try SecurePair(server: context, client: client) }
            for pair in old { try pair.connect(loop) }
            let names = old.map { $0.client.tls?.peerCertificate?.commonName }
            var seen: Set<String> = []
            for _ in 0..<200 {
                let pair = try SecurePair(server: context, client: client)
                pair.client.write("hello\n")
                pair.client.closeAfterWriting()
                try pair.add(to: loop)
                pair.finish(loop)
                #expect(pair.serverCalls.list == ["connected", "hello", "end"])
                #expect(pair.clientCalls.reason == .closed && pair.serverCalls.reason == .peerClosed)
                if let name = pair.client.tls?.peerCertificate?.commonName { seen.insert(name) }
            }
            isDone.open()
            #expect(hasStopped.wait())
            #expect(reloads.count > 10 && seen == ["server", "second"])
            for (pair, name) in zip(old, names) {
                pair.client.write("still here\n")
                loop.run(until: "it is there") { pair.serverCalls.list.contains("still here") }
                #expect(pair.client.tls?.peerCertificate?.commonName == name)
            }
            try context.reload(Certificates.identity(.second))
            let pair = try SecurePair(server: context, client: client)
            try pair.connect(loop)
            #expect(pair.client.tls?.peerCertificate?.commonName == "second")
        }
    }

    @Test func `a reload that fails changes nothing`() throws {
        try onLoopThread { loop in
            let context = try Certificates.server { $0.applicationProtocols = ["one"] }
            var options = TLSServerContext.Options()
            options.applicationProtocols = [""]
            let second = try Certificates.identity(.second)
            #expect(
                reason { () throws(TLSSetupError) in try context.reload(second, options: options) }
                    == .badProtocolName)
            let client = try Certificates.client { $0.applicationProtocols = ["one"] }
            let pair = try SecurePair(server: context, client: client)
            try pair.connect(loop)
            #expect(pair.client.tls?.peerCertificate?.commonName == "server")
            #expect(pair.client.tls?.applicationProtocol == "one")
        }
    }

    @Test func `a client without a name of the server ends the program`() async {
        let first = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: {
                _ = Connection(connectingTo: .unix(path: "/nowhere"), tls: try TLSClientContext())
            })
        #expect(
            first?.message.contains(
                "Connection.init(connectingTo:): no name for the certificate of the server at /nowhere")
                == true
        )
    }

    @Test(arguments: ["", ".", "a\0b", "a b", "naïve.test", "x\u{1b}[2J", String(repeating: "a", count: 256)])
    func `a text that no certificate can have as its name ends the connection before the hand-shake`(
        name: String
    )
        throws
    {
        try onLoopThread { loop in
            let ends = try Loopback.pair()
            defer { Loopback.close(ends.1) }
            let connection = try Connection(
                OwnedDescriptor(ends.0), tls: Certificates.client(), serverName: name)
            let calls = Calls()
            calls.watch(connection)
            try loop.add(connection, forMode: .default)
            loop.run(until: "the connection has ended") { calls.reason != nil }
            #expect(calls.error?.reason == .nameMismatch)
            #expect(calls.list == ["end"])
            #expect(try Loopback.read(ends.1) == [], "nothing was sent")
            let named = Connection(connectingTo: .tcp(host: name, port: 1), tls: try Certificates.client())
            let namedCalls = Calls()
            namedCalls.watch(named)
            try loop.add(named, forMode: .default)
            loop.run(until: "the connection has ended") { namedCalls.reason != nil }
        }
    }

    @Test func `a name's dot at its end and an address's scope are not part of a certificate's name`() {
        let names = ["a.test.": "a.test", "fe80::1%eth0": "fe80::1", "127.0.0.1": "127.0.0.1"]
        for (host, name) in names { #expect(ServerName(host)?.text == name) }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 10, .seconds(-5)])
    func `sessions may live for any time`(lifetime: Duration) throws {
        let context = try Certificates.server {
            $0.sessionLifetime = lifetime
            $0.ticketCount = .max
        }
        try onLoopThread { loop in
            let pair = try SecurePair(server: context)
            try pair.connect(loop)
            pair.takeTickets(loop)
            pair.client.close()
            pair.finish(loop)
        }
    }

    // By default, OpenSSL frees at exit what other threads may use, or free when they end. Whichever object is made first must
    // prevent it.

    @Test func `OpenSSL frees no memory at exit after a context with an identity was made`() async {
        await #expect(processExitsWith: .success) {
            let path = Certificates.path
            let identity = try TLSIdentity(
                certificateFile: path("server.pem"), keyFile: path("server.key"))
            _ = try TLSServerContext(identity)
            #expect(faults_forbid_openssl_cleanup())
        }
    }

    @Test func `OpenSSL frees no memory at exit after a context with trust was made`() async {
        await #expect(processExitsWith: .success) {
            var options = TLSClientContext.Options()
            options.trust = try TLSTrust(file: Certificates.authority)
            _ = try TLSClientContext(options: options)
            #expect(faults_forbid_openssl_cleanup())
        }
    }

    @Test func `OpenSSL frees no memory at exit after a context was made`() async {
        await #expect(processExitsWith: .success) {
            _ = try TLSClientContext()
            #expect(faults_forbid_openssl_cleanup())
        }
    }

    /// Two sockets for each of 1,000 connections would need 2,000 descriptors.
    @Test func `connections with TLS leave no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let (server, client) = (try Certificates.server(), try Certificates.client())
                var limit = rlimit(rlim_cur: 128, rlim_max: 128)
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                // Safe: the kernel reads a local variable.
                #expect(unsafe setrlimit(resource, &limit) == 0)
                for index in 0..<200 {
                    let name = index % 3 == 0 ? "wrong.test" : "localhost"
                    let pair = try SecurePair(server: server, client: client, name: name)
                    pair.client.closeAfterWriting()
                    try pair.add(to: loop)
                    pair.finish(loop)
                }
            }
        }
    }
}

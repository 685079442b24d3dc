import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

@testable import TLSStreams

/// Each failure of a hand-shake has its cause at both ends.
@Suite struct TLSFailureTests {
    /// Makes a hand-shake fail, and checks the causes.
    private func check(
        _ client: TLSError.Reason?, _ server: TLSError.Reason?, foundBy finder: Finder,
        name: String = "localhost",
        _ make: @escaping @Sendable () throws -> (TLSServerContext, TLSClientContext)
    ) throws {
        try onLoopThread { loop in
            let contexts = try make()
            let pair = try SecurePair(server: contexts.0, client: contexts.1, name: name)
            pair.client.write("secret\n")
            pair.server.write("secret\n")
            try pair.add(to: loop)
            pair.finish(loop)
            #expect(pair.clientCalls.error?.reason == client, "\(pair.clientCalls.reason as Any)")
            #expect(pair.serverCalls.error?.reason == server, "\(pair.serverCalls.reason as Any)")
            if let error = pair.clientCalls.error { #expect(error.isFromPeer == (finder == .server)) }
            if let error = pair.serverCalls.error { #expect(error.isFromPeer == (finder == .client)) }
            #expect(!pair.serverCalls.list.contains("secret"))
            #expect(finder == .server || pair.clientCalls.list == ["end"])
        }
    }

    private enum Finder { case client, server }

    // Guarantees: A server's certificate that has expired, is of another name or of an unknown issuer ends the connection.
    @Test func `an expired certificate`() throws {
        try check(.certificateExpired, .certificateExpired, foundBy: .client) {
            (try Certificates.server(.expired), try Certificates.client())
        }
    }

    @Test func `a certificate that is not valid yet`() throws {
        try check(.certificateNotYetValid, .badCertificate, foundBy: .client) {
            (try Certificates.server(.future), try Certificates.client())
        }
    }

    // Guarantees: No handler is called, and no byte delivered, before the hand-shake has succeeded.
    @Test func `a certificate of an unknown issuer`() throws {
        try check(.unknownIssuer, .unknownIssuer, foundBy: .client) {
            (try Certificates.server(.foreign), try Certificates.client())
        }
    }

    /// The system's issuers do not include the authority of the tests.
    // Guarantees: A server's certificate that has expired, is of another name or of an unknown issuer ends the connection.
    @Test func `a certificate whose issuer the system does not trust`() throws {
        try check(.unknownIssuer, .unknownIssuer, foundBy: .client) {
            (try Certificates.server(), try TLSClientContext())
        }
    }

    // Guarantees: A server's certificate that has expired, is of another name or of an unknown issuer ends the connection.
    @Test(arguments: ["wrong.test", "127.0.0.2", "server", "x.localhost", "a.b.many.test"])
    func `a certificate of another name`(name: String) throws {
        let identity: Certificates.Name = name.contains("many") ? .other : .server
        try check(.nameMismatch, .badCertificate, foundBy: .client, name: name) {
            (try Certificates.server(identity), try Certificates.client())
        }
    }

    @Test(arguments: [
        "localhost", "localhost.", "LOCALHOST", "127.0.0.1", "a.many.test", "other.test",
    ])
    func `a name that the certificate has is accepted`(name: String) throws {
        try onLoopThread { loop in
            let identity: Certificates.Name = name.contains("test") ? .other : .server
            let pair = try SecurePair(server: Certificates.server(identity), name: name)
            try pair.connect(loop)
            #expect(pair.server.tls?.serverName == (name == "127.0.0.1" ? nil : name.trimmingDot))
        }
    }

    // Guarantees: Each failure of a hand-shake is reported with its cause on both sides.
    @Test func `no common version`() throws {
        try check(.noCommonVersion, .noCommonVersion, foundBy: .server) {
            (
                try Certificates.server { $0.versions = .tls13 ... .tls13 },
                try Certificates.client { $0.versions = .tls12 ... .tls12 }
            )
        }
    }

    // Guarantees: Each failure of a hand-shake is reported with its cause on both sides.
    @Test func `no common application protocol`() throws {
        try check(.noCommonApplicationProtocol, .noCommonApplicationProtocol, foundBy: .server) {
            (
                try Certificates.server { $0.applicationProtocols = ["h2"] },
                try Certificates.client { $0.applicationProtocols = ["http/1.1"] }
            )
        }
    }

    // Guarantees: Each failure of a hand-shake is reported with its cause on both sides.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a client without the certificate that is required`(version: TLSVersion) throws {
        let expected: TLSError.Reason = version == .tls13 ? .certificateRequired : .noCommonCipher
        try check(expected, .certificateRequired, foundBy: .server) {
            (
                try Certificates.server {
                    $0.clientCertificates = .required(try TLSTrust(file: Certificates.authority))
                },
                try Certificates.client { $0.versions = version...version }
            )
        }
    }

    @Test func `a client with a certificate of an unknown issuer`() throws {
        try check(.unknownIssuer, .unknownIssuer, foundBy: .server) {
            (
                try Certificates.server {
                    $0.clientCertificates = .requested(try TLSTrust(file: Certificates.authority))
                },
                try Certificates.client { $0.identity = try Certificates.identity(.foreign) }
            )
        }
    }

    @Test func `a client with a certificate that has expired`() throws {
        try check(.certificateExpired, .certificateExpired, foundBy: .server) {
            (
                try Certificates.server {
                    $0.clientCertificates = .required(try TLSTrust(file: Certificates.authority))
                },
                try Certificates.client { $0.identity = try Certificates.identity(.expired) }
            )
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a client without the certificate that is only requested is served`(version: TLSVersion) throws {
        try onLoopThread { loop in
            let pair = try SecurePair(
                server: Certificates.server {
                    $0.clientCertificates = .requested(try TLSTrust(file: Certificates.authority))
                }, client: Certificates.client { $0.versions = version...version })
            pair.client.write("hello\n")
            try pair.connect(loop)
            loop.run(until: "the line is there") { pair.serverCalls.list == ["connected", "hello"] }
            #expect(pair.server.tls?.peerCertificate == nil)
        }
    }

    @Test func `a name that the server refuses`() throws {
        try check(.unknownServerName, .unknownServerName, foundBy: .server) {
            (try Certificates.server { $0.refusesUnknownNames = true }, try Certificates.client())
        }
    }

    @Test func `a certificate of a client is verified, and its name known`() throws {
        try onLoopThread { loop in
            let pair = try SecurePair(
                server: Certificates.server {
                    $0.clientCertificates = .required(try TLSTrust(file: Certificates.authority))
                }, client: Certificates.client { $0.identity = try Certificates.identity(.client) })
            try pair.connect(loop)
            #expect(pair.server.tls?.peerCertificate?.commonName == "alice")
            // The issuer is "ca", so the first "alice" of the certificate is the common name of its subject.
            var bytes = try #require(pair.server.tls?.peerCertificate?.der)
            let name = try #require(
                bytes.indices.first { bytes[$0...].starts(with: Array("alice".utf8)) })
            bytes[name + 3] = 0
            #expect(TLSCertificate(der: bytes).commonName == nil, "not \"ali\"")
            #expect(pair.server.tls?.peerCertificate?.der.first == 0x30)
        }
    }

    @Test func `an identity is chosen by the name that the client asks for`() throws {
        try onLoopThread { loop in
            let context = try Certificates.server {
                $0.identities = ["other.test": try Certificates.identity(.other)]
                $0.identities["*.many.test"] = try Certificates.identity(.other)
            }
            for (name, common) in [
                ("other.test", "other"), ("OTHER.test", "other"), ("x.many.test", "other"),
                ("localhost", "server"),
            ] {
                let pair = try SecurePair(server: context, name: name)
                try pair.connect(loop)
                #expect(pair.client.tls?.peerCertificate?.commonName == common)
            }
        }
    }
}

extension String {
    fileprivate var trimmingDot: String { hasSuffix(".") ? String(dropLast()) : self }
}

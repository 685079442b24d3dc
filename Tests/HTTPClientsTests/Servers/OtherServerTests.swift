import Foundation
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Servers of other projects: nghttpd with HTTP/2, and OpenSSL's server with wrong certificates.
@Suite(.serialized) struct OtherServerTests {
    /// Runs a body with a server program that listens at a port.
    private func with(
        _ name: String, _ arguments: (UInt16) -> [String], options: HTTPClient.Options = .local(),
        _ body: @escaping @Sendable (HTTPClient, UInt16) throws -> Void
    ) throws {
        let (probe, port) = try Loopback.listen()
        Loopback.close(probe)
        let tool = try Tool(name, arguments(port))
        defer { tool.stop() }
        waitUntil("\(name) listens") {
            guard let socket = try? Loopback.connect(to: port) else { return false }
            defer { Loopback.close(socket) }
            usleep(10_000)
            return Loopback.error(of: socket) == 0 && (try? Loopback.write([], to: socket)) != nil
        }
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .network, options: options)
            try body(client, port)
            client.invalidate()
        }
    }

    @Test func `100 transfers over HTTP/2 share a connection`() throws {
        let directory = try certificate("DNS:localhost", from: "20200101000000Z", to: "20990101000000Z")
        defer { try? directory.remove() }
        let content = [UInt8](repeating: 0x61, count: 300_000)
        try Data(content).write(to: URL(filePath: directory.path + "/file"))
        let path = directory.path
        try with(
            "nghttpd", { ["-d", path, "\($0)", path + "/key.pem", path + "/cert.pem"] },
            options: .local { $0.trust = try TLSTrust(file: path + "/ca.pem") }
        ) { client, port in
            var (ended, size) = (0, 0)
            for number in 0..<100 {
                client.start(HTTPClient.Request("https://localhost:\(port)/file")) { transfer in
                    transfer.onResponse { _, response in
                        #expect(response.version == "2" && response.status == 200)
                    }
                    transfer.onData { transfer, bytes in
                        size += bytes.byteCount
                        // Some transfers are slow. The others continue.
                        if number.isMultiple(of: 10) {
                            transfer.isReadingPaused = true
                            let timer = Timer(timeInterval: .milliseconds(1), repeats: false) { _ in
                                transfer.isReadingPaused = false
                            }
                            RunLoop.current.add(timer, forMode: .network)
                        }
                    }
                    transfer.onEnd { _, error in
                        #expect(error == nil)
                        ended += 1
                    }
                }
            }
            client.loop.run(in: .network, until: "all have ended") { ended == 100 }
            #expect(size == 100 * 300_000)
        }
    }

    @Test func `a paused transfer over HTTP/2 stores little, whatever others of its connection receive`()
        async
    {
        await #expect(processExitsWith: .success) {
            let tests = OtherServerTests()
            let directory = try tests.certificate(
                "DNS:localhost", from: "20200101000000Z", to: "20990101000000Z")
            let content = [UInt8](repeating: 0x61, count: 64 << 20)
            try Data(content).write(to: URL(filePath: directory.path + "/file"))
            let path = directory.path
            try tests.with(
                "nghttpd", { ["-d", path, "\($0)", path + "/key.pem", path + "/cert.pem"] },
                options: .local {
                    $0.trust = try TLSTrust(file: path + "/ca.pem")
                    $0.bodyLimit = nil
                }
            ) { client, port in
                let url = "https://localhost:\(port)/file"
                var (size, ended) = (0, 0)
                let first = client.start(HTTPClient.Request(url)) { transfer in
                    transfer.onData { transfer, bytes in
                        if size == 0 { transfer.isReadingPaused = true }
                        size += bytes.byteCount
                    }
                    transfer.onEnd { _, error in
                        #expect(error == nil)
                        ended += 1
                    }
                }
                client.loop.run(in: .network, until: "it is paused") { first.isReadingPaused }
                let before = Memory.peak()
                var received = 0
                client.start(HTTPClient.Request(url)) { transfer in
                    transfer.onData { _, bytes in received += bytes.byteCount }
                    transfer.onEnd { _, error in
                        #expect(error == nil)
                        ended += 1
                    }
                }
                // The other transfer may have to wait for the paused one.
                client.loop.run(in: .network, until: .now + .seconds(1))
                let growth = (Memory.peak() - before) >> 20
                #expect(growth < 24, "\(growth) MiB, \(received >> 20) MiB received")
                first.isReadingPaused = false
                client.loop.run(in: .network, until: "both are over") { ended == 2 }
                #expect(received == 64 << 20)
                #expect(size == 64 << 20)
            }
            try directory.remove()
        }
    }

    /// Makes a directory with a certificate authority, and a certificate that the authority has signed.
    private func certificate(_ names: String, from start: String, to end: String) throws -> ScratchDirectory {
        let directory = try ScratchDirectory()
        let script = """
            cd \(directory.path)
            openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 3650
            openssl req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=server
            printf 'subjectAltName=\(names)' > names
            touch index && echo 01 > serial
            printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\npolicy=p\\n[p]\\ncommonName=supplied\\n' > config
            openssl ca -batch -config config -cert ca.pem -keyfile ca.key -in request.pem -out cert.pem -extfile names -startdate \(start) -enddate \(end)
            """
        _ = try Tool("bash", ["-c", script]).bytes()
        return directory
    }

    private func fetch(
        _ directory: ScratchDirectory, trusts: Bool = true, _ settings: [String] = [],
        identity: TLSIdentity? = nil, _ check: @escaping @Sendable (Outcome) -> Void
    ) throws {
        let path = directory.path
        try with(
            "openssl",
            {
                [
                    "s_server", "-accept", "\($0)", "-cert", path + "/cert.pem", "-key", path + "/key.pem",
                    "-www", "-quiet",
                ] + settings
            },
            options: .local {
                if trusts { $0.trust = try TLSTrust(file: path + "/ca.pem") }
                $0.identity = identity
            }
        ) { client, port in check(client.fetch("https://localhost:\(port)/")) }
    }

    private static func isRejected(_ outcome: Outcome) -> Bool {
        if outcome.error?.reason == .certificateRejected { return outcome.response == nil }
        return false
    }

    @Test func `a certificate of an authority that is trusted is accepted`() throws {
        let directory = try certificate("DNS:localhost", from: "20200101000000Z", to: "20990101000000Z")
        defer { try? directory.remove() }
        try fetch(directory) { outcome in
            #expect(outcome.error == nil)
            #expect(outcome.response?.status == 200)
        }
    }

    // Guarantees: A server whose certificate is expired, not trusted, or for another host gets no request.
    @Test func `a certificate that has expired, is of another host or of an unknown authority is rejected`()
        throws
    {
        for (names, end, trusts) in [
            ("DNS:localhost", "20210101000000Z", true), ("DNS:example.org", "20990101000000Z", true),
            ("DNS:localhost", "20990101000000Z", false),
        ] {
            let directory = try certificate(names, from: "20200101000000Z", to: end)
            defer { try? directory.remove() }
            try fetch(directory, trusts: trusts) { outcome in
                #expect(OtherServerTests.isRejected(outcome), "\(names) \(end) \(trusts)")
            }
        }
    }

    @Test func `a key exchange with a prime that the server chooses is not offered`() throws {
        let directory = try certificate("DNS:localhost", from: "20200101000000Z", to: "20990101000000Z")
        defer { try? directory.remove() }
        try fetch(directory, ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"]) { outcome in
            guard outcome.error?.reason == .tlsFailed else {
                Issue.record("\(outcome.error.map { "\($0)" } ?? "complete")")
                return
            }
        }
        try fetch(directory, ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"]) { outcome in
            #expect(outcome.error == nil && outcome.response?.status == 200)
        }
    }

    @Test func `a server that asks for a certificate gets the one of the identity, which text or files hold`()
        throws
    {
        let directory = try certificate("DNS:localhost", from: "20200101000000Z", to: "20990101000000Z")
        defer { try? directory.remove() }
        let path = directory.path
        let lock = ["pkey", "-in", path + "/key.pem", "-aes256", "-passout", "pass:secret", "-out"]
        _ = try Tool("openssl", lock + [path + "/locked.pem"]).bytes()
        let asks = ["-Verify", "1", "-verify_return_error", "-CAfile", path + "/ca.pem"]
        func read(_ name: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: URL(filePath: path + name)))
        }
        for identity in [
            TLSIdentity(certificates: try read("/cert.pem"), key: try read("/key.pem")),
            try TLSIdentity(
                certificateFile: path + "/cert.pem", keyFile: path + "/locked.pem", passphrase: "secret"),
        ] {
            try fetch(directory, asks, identity: identity) { outcome in
                #expect(outcome.error == nil && outcome.response?.status == 200)
            }
        }
        try fetch(directory, asks) { outcome in #expect(outcome.error != nil && outcome.response == nil) }
        let wrong = [
            TLSIdentity(certificates: try read("/cert.pem"), key: try read("/locked.pem"), passphrase: "no"),
            TLSIdentity(certificates: try read("/cert.pem"), key: try read("/locked.pem")),
            TLSIdentity(certificates: try read("/cert.pem"), key: try read("/ca.key")),
            TLSIdentity(certificates: Array("nothing".utf8), key: try read("/key.pem")),
            TLSIdentity(certificates: [], key: []),
        ]
        for identity in wrong {
            try fetch(directory, asks, identity: identity) { outcome in
                #expect(outcome.error?.reason == .tlsFailed, "\(outcome.error.map { "\($0)" } ?? "complete")")
            }
        }
    }

    @Test func `trust in nothing that is a certificate trusts nobody`() throws {
        let directory = try certificate("DNS:localhost", from: "20200101000000Z", to: "20990101000000Z")
        defer { try? directory.remove() }
        let path = directory.path
        for text in ["", "nothing"] {
            try with(
                "openssl",
                {
                    [
                        "s_server", "-accept", "\($0)", "-cert", path + "/cert.pem", "-key",
                        path + "/key.pem",
                        "-www", "-quiet",
                    ]
                }, options: .local { $0.trust = TLSTrust(certificates: Array(text.utf8)) }
            ) { client, port in
                let error = client.fetch("https://localhost:\(port)/").error
                #expect(
                    [.tlsFailed, .certificateRejected].contains(error?.reason),
                    "\(error.map { "\($0)" } ?? "complete")")
            }
        }
    }
}

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
            let client = try HTTPClient(loop: loop, mode: .network, options: options)
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
            options: .local { $0.authorities = path + "/ca.pem" }
        ) { client, port in
            var (ended, size) = (0, 0)
            for number in 0..<100 {
                client.start(HTTPRequest("https://localhost:\(port)/file")) { transfer in
                    transfer.onResponse { _, response in
                        #expect(response.version == "2" && response.status == 200)
                    }
                    transfer.onData { transfer, bytes in
                        size += bytes.byteCount
                        // Some transfers are slow. The others continue.
                        if number.isMultiple(of: 10) {
                            transfer.isPaused = true
                            let timer = Timer(timeInterval: .milliseconds(1), repeats: false) { _ in
                                transfer.isPaused = false
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
        _ directory: ScratchDirectory, trusts: Bool = true, _ check: @escaping @Sendable (Outcome) -> Void
    ) throws {
        let path = directory.path
        try with(
            "openssl",
            {
                [
                    "s_server", "-accept", "\($0)", "-cert", path + "/cert.pem", "-key", path + "/key.pem",
                    "-www", "-quiet",
                ]
            },
            options: .local { $0.authorities = trusts ? path + "/ca.pem" : nil }
        ) { client, port in check(client.fetch("https://localhost:\(port)/")) }
    }

    private static func isRejected(_ outcome: Outcome) -> Bool {
        if case .certificateRejected = outcome.error { return outcome.response == nil }
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
}

import Foundation
import HTTPServers
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// HTTPS, with curl as the client.
@Suite struct SecureTests {
    /// A certificate for localhost, and its key.
    private func identity(in directory: ScratchDirectory) throws -> HTTPServer.Options {
        let (certificate, key) = (directory.path + "/certificate.pem", directory.path + "/key.pem")
        _ = try Program(path: "/usr/bin/env").run(list: [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
        ])
        var options = HTTPServer.Options()
        options.identity = HTTPServer.Identity(
            certificate: try String(contentsOfFile: certificate, encoding: .utf8),
            key: try String(contentsOfFile: key, encoding: .utf8))
        return options
    }

    @Test func `curl verifies the certificate, and gets long and short answers`() throws {
        let directory = try ScratchDirectory()
        let options = try identity(in: directory)
        try withServer(
            options,
            handler: { exchange in
                if exchange.request.target == "/upgrade" {
                    return _ = #expect(!exchange.upgrade(to: "echo") { _ in })
                }
                let size = Int(exchange.request.target.dropFirst()) ?? 0
                exchange.respond(HTTPServer.Response(status: 200, body: [UInt8](repeating: 7, count: size)))
            }
        ) { server in
            for size in [13, 3_000_000] {
                try expect(
                    "200 \(size)", "--cacert", directory.path + "/certificate.pem", "-o", "/dev/null", "-w",
                    "%{http_code} %{size_download}", "--resolve", "localhost:\(server.port):127.0.0.1",
                    "https://localhost:\(server.port)/\(size)")
            }
            try expect(
                "501", "-k", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Connection: Upgrade", "-H",
                "Upgrade: echo",
                "--http1.1", "https://127.0.0.1:\(server.port)/upgrade")
            // A client without TLS gets no answer, and the server continues.
            let plain = try Client(server.port)
            plain.send(request("GET /"))
            plain.endSending()
            #expect(!plain.rest().contains("200 OK"))
        }
        try directory.remove()
    }

    @Test func `a hand-shake that stops has no more time than a header`() throws {
        let directory = try ScratchDirectory()
        var options = try identity(in: directory)
        options.headerTimeout = .milliseconds(400)
        try withServer(options) { server in
            let beginning: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]
            for count in [0, 5, beginning.count] {
                let start = ContinuousClock.now
                let client = try Client(server.port)
                client.send(Array(beginning.prefix(count)))
                _ = client.rest()
                #expect(.now - start >= .milliseconds(400))
            }
            #expect(try server.perform { $0.statistics.slowConnections } == 3)
            try expect("Hello, world!", "-k", "https://127.0.0.1:\(server.port)/")
        }
        try directory.remove()
    }

    @Test func `a certificate that is none is refused`() throws {
        var options = HTTPServer.Options()
        options.identity = HTTPServer.Identity(certificate: "nonsense", key: "nonsense")
        let refused = options
        try onLoopThread { loop in
            #expect(throws: SystemError.self) {
                _ = try HTTPServer(.tcp(host: "127.0.0.1", port: 0), loop: loop, options: refused) { _ in }
            }
        }
    }
}

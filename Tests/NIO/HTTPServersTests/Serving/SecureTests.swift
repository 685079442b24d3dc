import Foundation
import HTTPServers
import RunLoops
import Streams
import TLSStreams
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
        options.tls = try TLSServerContext(TLSIdentity(certificateFile: certificate, keyFile: key))
        return options
    }

    @Test func `curl verifies the certificate, and gets long and short answers`() throws {
        let directory = try ScratchDirectory()
        let options = try identity(in: directory)
        try withServer(
            options,
            handler: { exchange in
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

    /// The client of OpenSSL sends what it reads from its input, after the hand-shake.
    @Test func `a connection over TLS is upgraded, and stays one`() throws {
        let directory = try ScratchDirectory()
        try withServer(
            try identity(in: directory),
            handler: { exchange in
                exchange.upgrade(to: "echo") { connection in
                    connection.onFrame(.lines()) { connection, line in
                        connection.write("echo ")
                        connection.write(line)
                        connection.write("\n")
                        connection.closeAfterWriting()
                    }
                    do { try RunLoop.current.add(connection, forMode: .default) } catch {
                        Issue.record(error)
                    }
                }
            }
        ) { server in
            let head = request("GET /", "Connection: Upgrade", "Upgrade: echo")
            try Bytes.write(Array((head + "early\n").utf8), to: directory.path + "/input")
            let lines = try Program(path: "/usr/bin/env").run(list: [
                "bash", "-c",
                "(cat '\(directory.path)/input'; sleep 5) | openssl s_client -quiet -connect 127.0.0.1:\(server.port) 2>/dev/null",
            ]).lines
            let text = lines.joined(separator: "\n")
            #expect(text.hasPrefix("HTTP/1.1 101 ") && text.hasSuffix("\r\n\r\necho early"), "\(text)")
        }
        try directory.remove()
    }

    @Test func `a certificate that is none is refused`() throws {
        #expect(throws: TLSSetupError.self) {
            _ = try TLSServerContext(
                TLSIdentity(certificates: Array("nonsense".utf8), key: Array("nonsense".utf8)))
        }
    }
}

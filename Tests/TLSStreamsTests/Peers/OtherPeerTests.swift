import Glibc
import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// Clients and servers of other projects: those of OpenSSL, and curl.
@Suite(.serialized) struct OtherPeerTests {
    private static func openssl(_ port: UInt16, _ arguments: [String] = []) throws -> Tool {
        try Tool(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "localhost", "-CAfile",
                Certificates.authority, "-verify_return_error",
            ] + arguments, takesErrors: true)
    }

    // MARK: - Our server

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a server talks with OpenSSL's client`(version: String) throws {
        try onLoopThread { loop in
            let context = try Certificates.server { $0.applicationProtocols = ["echo"] }
            let server = try SecureServer(loop, context, SecureServer.echo)
            let tool = try OtherPeerTests.openssl(server.port, [version, "-alpn", "none,echo"])
            defer { tool.stop() }
            tool.write("hello\n")
            var text = ""
            loop.run(until: "the echo is there") {
                text += tool.written()
                return text.hasSuffix("hello\n")
            }
            #expect(text.contains("Verification: OK") && text.contains("ALPN protocol: echo"))
            #expect(text.contains("Compression: NONE"))
            #expect(
                text.contains("Secure Renegotiation IS") == (version == "-tls1_2") || version == "-tls1_3")
            // The line Q ends the client, which sends a notice of the end.
            tool.write("Q\n")
            loop.run(until: "it has ended") { server.hasServed }
            #expect(server.connections[0].calls.reason == .peerClosed)
            #expect(server.connections[0].connection.tls?.applicationProtocol == "echo")
            server.stop()
        }
    }

    @Test func `a client that is killed has not ended its stream`() throws {
        try onLoopThread { loop in
            let server = try SecureServer(loop, Certificates.server())
            let tool = try OtherPeerTests.openssl(server.port)
            tool.write("half\n")
            loop.run(until: "the line is there") {
                server.connections.first?.calls.list == ["connected", "half"]
            }
            tool.stop()
            loop.run(until: "it has ended") { server.hasServed }
            let calls = server.connections[0].calls
            #expect(calls.error?.reason == .truncated || calls.reason == .reset)
            server.stop()
        }
    }

    // Guarantees: Versions before TLS 1.2 are refused, and so is renegotiation.
    @Test func `old versions and weak ciphers are refused`() throws {
        try onLoopThread { loop in
            let server = try SecureServer(loop, Certificates.server())
            for (arguments, cause) in [
                (["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], TLSError.Reason.noCommonVersion),
                (["-tls1_2", "-cipher", "ECDHE-ECDSA-NULL-SHA@SECLEVEL=0"], .noCommonCipher),
                (
                    ["-tls1_3", "-groups", "P-521", "-ciphersuites", "TLS_AES_128_CCM_SHA256"],
                    .noCommonCipher
                ),
            ] {
                let before = server.connections.count
                let tool = try OtherPeerTests.openssl(server.port, arguments)
                loop.run(until: "it has ended") { server.connections.count > before && server.hasServed }
                #expect(server.connections.last?.calls.error?.reason == cause)
                tool.endInput()
                _ = tool.bytes()
                #expect(tool.exitCode != 0)
            }
            server.stop()
        }
    }

    // Guarantees: Versions before TLS 1.2 are refused, and so is renegotiation.
    @Test func `a client cannot have a new hand-shake`() throws {
        try onLoopThread { loop in
            let server = try SecureServer(loop, Certificates.server(), SecureServer.echo)
            let tool = try OtherPeerTests.openssl(server.port, ["-tls1_2"])
            defer { tool.stop() }
            tool.write("hello\n")
            var text = ""
            loop.run(until: "the echo is there") {
                text += tool.written()
                return text.hasSuffix("hello\n")
            }
            tool.write("R\n")
            loop.run(until: "it is refused") {
                text += tool.written()
                return text.contains("no renegotiation")
            }
            loop.run(until: "it has ended") { server.hasServed }
            server.stop()
        }
    }

    @Test(arguments: ["--tls-max 1.2", "--tlsv1.3"])
    func `curl downloads and uploads, byte for byte`(version: String) throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: 4)
            let body = (0..<2_000_003).map { _ in UInt8.random(in: 0...255, using: &random) }
            let directory = try ScratchDirectory()
            defer { try? directory.remove() }
            let file = directory.path + "/body"
            try Files.write(body, to: file)
            let server = try SecureServer(loop, Certificates.server(), SecureServer.http(body))
            for upload in [[], ["-H", "Expect:", "--data-binary", "@" + file]] {
                let before = server.connections.count
                let tool = try Tool(
                    "curl",
                    ["-s", "--cacert", Certificates.authority, "-o", file + ".out"]
                        + version.split(separator: " ").map(String.init) + upload
                        + ["https://localhost:\(server.port)/"])
                loop.run(until: "it has ended") { server.connections.count > before && server.hasServed }
                _ = tool.bytes()
                #expect(tool.exitCode == 0)
                #expect(try Files.read(file + ".out") == body)
                let expected = upload.isEmpty ? "body 0 false" : "body \(body.count) true"
                #expect(server.connections.last?.calls.list.contains(expected) == true)
            }
            server.stop()
        }
    }

    // MARK: - Our client

    /// Starts OpenSSL's server, and waits until it listens at the port.
    private static func opensslServer(
        _ arguments: [String], in directory: String? = nil
    ) throws -> (Tool, port: UInt16) {
        let (probe, port) = try Loopback.listen()
        Loopback.close(probe)
        let tool = try Tool(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", Certificates.path("server.pem"),
                "-key",
                Certificates.path("server.key"),
            ] + arguments, takesErrors: true, in: directory)
        waitUntil("it listens") {
            guard let socket = try? Loopback.connect(to: port) else { return false }
            defer { Loopback.close(socket) }
            usleep(10_000)
            return Loopback.error(of: socket) == 0 && (try? Loopback.write([], to: socket)) != nil
        }
        return (tool, port)
    }

    /// Runs a body with OpenSSL's server, which listens at a port.
    private func withServer(
        _ arguments: [String], in directory: String? = nil,
        _ body: @escaping @Sendable (RunLoop, UInt16) throws -> Void
    ) throws {
        let (tool, port) = try OtherPeerTests.opensslServer(["-quiet"] + arguments, in: directory)
        defer { tool.stop() }
        try onLoopThread { loop in try body(loop, port) }
    }

    // Guarantees: Versions before TLS 1.2 are refused, and so is renegotiation.
    @Test func `a server cannot have a new hand-shake`() throws {
        try onLoopThread { loop in
            let (tool, port) = try OtherPeerTests.opensslServer(["-tls1_2"])
            defer { tool.stop() }
            let connection = try Connection(
                connectingTo: .tcp(host: "localhost", port: port), tls: Certificates.client())
            let calls = Calls()
            calls.watch(connection)
            connection.write("hello\n")
            try loop.add(connection, forMode: .default)
            var text = ""
            loop.run(until: "the line is there") {
                text += tool.written()
                return text.contains("hello\n")
            }
            tool.write("r\n")
            loop.run(until: "it is refused") {
                text += tool.written()
                return text.contains("no renegotiation")
            }
            loop.run(until: "it has ended") { calls.reason != nil }
            #expect(calls.list == ["connected", "end"])
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a client talks with OpenSSL's server, which asks for its certificate`(version: String)
        throws
    {
        try withServer([
            version, "-rev", "-Verify", "1", "-verify_return_error", "-CAfile", Certificates.authority,
        ]) {
            loop, port in
            for name in [Certificates.Name.client, .foreign] {
                let context = try Certificates.client { $0.identity = try Certificates.identity(name) }
                let connection = Connection(connectingTo: .tcp(host: "localhost", port: port), tls: context)
                let calls = Calls()
                calls.watch(connection)
                connection.write("abc\n")
                try loop.add(connection, forMode: .default)
                loop.run(until: "it is answered or refused") {
                    calls.list.contains("cba") || calls.reason != nil
                }
                if name == .client {
                    #expect(calls.list == ["connected", "cba"])
                    connection.closeAfterWriting()
                    loop.run(until: "it has ended") { calls.reason != nil }
                    #expect(calls.reason == .closed)
                } else {
                    #expect(calls.error?.reason == .unknownIssuer && calls.error?.isFromPeer == true)
                }
            }
        }
    }

    @Test func `a client downloads a file from OpenSSL's server`() throws {
        let directory = try ScratchDirectory()
        defer { try? directory.remove() }
        let body = [UInt8](repeating: 0x61, count: 3_000_000)
        try Files.write(body, to: directory.path + "/file")
        try withServer(["-HTTP"], in: directory.path) { loop, port in
            let connection = try Connection(
                connectingTo: .tcp(host: "localhost", port: port), tls: Certificates.client())
            let calls = Calls()
            calls.watch(connection)
            var count = 0
            var isSame = true
            connection.onReceive { _, bytes in
                // Safe: the bytes are read during the call.
                if unsafe bytes.withUnsafeBytes({ unsafe $0.contains { $0 != 0x61 } }) { isSame = false }
                count += bytes.byteCount
                return bytes.byteCount
            }
            connection.write("GET /file HTTP/1.0\r\n\r\n")
            try loop.add(connection, forMode: .default)
            loop.run(until: "it has ended") { calls.reason != nil }
            #expect(count == 3_000_000 && isSame)
            #expect(calls.reason == .peerClosed)
        }
    }
}

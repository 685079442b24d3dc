import Glibc
import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// The code of the landing page and of the article "TLS on connections".
@Suite(.serialized) struct TLSSnippets {
    private let certificate = Certificates.path("server.pem")
    private let key = Certificates.path("server.key")

    @Test func `a client talks to the echo server of the landing page`() throws {
        let port = Log<UInt16>()
        let isReady = Gate()
        let thread = try RunLoopThread(name: "server")
        thread.runLoop.perform {
            recorded { port.add(try self.serveEcho()) }
            isReady.open()
        }
        #expect(isReady.wait())
        let print = Printed()
        try onLoopThread { _ in try self.talk(port.entries[0], Certificates.authority, print) }
        #expect(print.lines == ["tls13 false", "received 5 bytes", "ended: closed on this side"])
        thread.stop()
        thread.join()
    }

    private func serveEcho() throws -> UInt16 {
        let identity = try TLSIdentity(certificateFile: certificate, keyFile: key)
        let context = try TLSServerContext(identity)
        let listener = try Listener(.tcp(port: 0))
        try RunLoop.current.add(listener, forMode: .default) { accepted in
            let connection = Connection(accepted, tls: context)
            connection.onFrame(.lines()) { connection, line in
                connection.write(line)
                connection.write("\n")
            }
            try? RunLoop.current.add(connection, forMode: .default)
        }
        return try #require(listener.localAddress.port)
    }

    private func talk(_ port: UInt16, _ authority: String, _ print: Printed) throws {
        var options = TLSClientContext.Options()
        options.trust = try TLSTrust(file: authority)
        let context = try TLSClientContext(options: options)
        let connection = Connection(connectingTo: .tcp(host: "localhost", port: port), tls: context)
        connection.onConnect { connection in
            if let details = connection.tls { print(details.version, details.isResumed) }
        }
        connection.onFrame(.lines()) { connection, line in
            print("received \(line.byteCount) bytes")
            connection.closeAfterWriting()
        }
        connection.onEnd { _, reason in print("ended:", reason) }
        connection.write("hello\n")
        try RunLoop.current.add(connection, forMode: .default)
        RunLoop.current.run()
    }

    @Test func `a server has several names, and asks for certificates`() throws {
        try onLoopThread { loop in
            let (identity, other) = (
                try Certificates.identity(.server), try Certificates.identity(.other)
            )
            let authority = Certificates.authority
            var options = TLSServerContext.Options()
            options.identities = ["other.test": other]
            options.applicationProtocols = ["chat/2", "chat/1"]
            options.clientCertificates = .required(try TLSTrust(file: authority))
            let context = try TLSServerContext(identity, options: options)

            let client = try Certificates.client {
                $0.identity = try Certificates.identity(.client)
                $0.applicationProtocols = ["chat/1"]
            }
            let pair = try SecurePair(server: context, client: client, name: "other.test")
            try pair.connect(loop)
            #expect(pair.server.tls?.applicationProtocol == "chat/1")
            #expect(pair.client.tls?.peerCertificate?.commonName == "other")
        }
    }

    @Test func `a signal has the certificates read again`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { _ in try TLSSnippets().reload() }
        }
    }

    private func reload() throws {
        let print = Printed()
        let context = try Certificates.server(.second)
        let hangUp = try SignalSource(SIGHUP) { _, _ in
            do {
                try context.reload(TLSIdentity(certificateFile: certificate, keyFile: key))
            } catch {
                print("the certificates stay as they are:", error)
            }
        }
        try RunLoop.current.add(hangUp, forMode: .default)
        kill(getpid(), SIGHUP)
        RunLoop.current.run(in: .default, until: .now + .seconds(300), returnAfterSourceHandled: true)
        #expect(print.lines.isEmpty)
        let pair = try SecurePair(server: context)
        try pair.connect(.current)
        #expect(pair.client.tls?.peerCertificate?.commonName == "server")
    }
}

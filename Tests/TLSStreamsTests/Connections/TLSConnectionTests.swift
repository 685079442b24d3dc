import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// A connection with TLS behaves like one without TLS.
@Suite struct TLSConnectionTests {
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `both ends are connected, talk, and end in order`(version: TLSVersion) throws {
        try onLoopThread { loop in
            let pair = try SecurePair(
                server: Certificates.server { $0.applicationProtocols = ["two", "one"] },
                client: Certificates.client {
                    $0.applicationProtocols = ["one", "two"]
                    $0.versions = version...version
                })
            pair.client.write("before\n")
            #expect(pair.client.tls == nil && !pair.client.isConnected)
            try pair.connect(loop)
            pair.server.write("answer\n")
            loop.run(until: "both have a line") {
                pair.clientCalls.list.count + pair.serverCalls.list.count == 4
            }
            #expect(pair.clientCalls.list == ["connected", "answer"])
            #expect(pair.serverCalls.list == ["connected", "before"])
            let details = try #require(pair.client.tls)
            #expect(details.version == version && details.applicationProtocol == "two")
            #expect(details.serverName == "localhost" && !details.isResumed)
            #expect(details.peerCertificate?.commonName == "server")
            #expect(pair.server.tls?.peerCertificate == nil)
            #expect(pair.server.tls?.cipherSuite == details.cipherSuite && !details.cipherSuite.isEmpty)
            pair.client.closeAfterWriting()
            pair.finish(loop)
            #expect(pair.clientCalls.reason == .closed)
            #expect(pair.serverCalls.reason == .peerClosed)
            #expect(pair.client.tls == details, "the facts stay known")
            #expect(pair.client.sentByteCount == 7 && pair.client.receivedByteCount == 7)
        }
    }

    @Test func `a server that does not know TLS takes a context, and asks the connection for the protocol`()
        throws
    {
        try onLoopThread { loop in
            let security: any ServerSecurity = try Certificates.server { $0.applicationProtocols = ["h2"] }
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            var chosen: String?
            try loop.add(listener, forMode: .default) { accepted in
                let connection = Connection(accepted)
                connection.insert(security.makeLayer().filter)
                connection.onConnect { chosen = $0.filter?.applicationProtocol }
                recorded { try loop.add(connection, forMode: .default) }
            }
            let client = Connection(
                connectingTo: .tcp(host: "localhost", port: listener.localAddress.port ?? 0),
                tls: try Certificates.client { $0.applicationProtocols = ["http/1.1", "h2"] })
            try loop.add(client, forMode: .default)
            loop.run(until: "the hand-shake is complete") { chosen != nil }
            #expect(chosen == "h2")
            client.close()
            listener.invalidate()
        }
    }

    /// The transfer exceeds all buffers, both ends pause, and the records have different sizes.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a big transfer in both directions is exact`(version: TLSVersion) throws {
        try onLoopThread { loop in
            let pair = try SecurePair(client: Certificates.client { $0.versions = version...version })
            let total = 3_000_000
            var random = SplitMix64(seed: 18)
            let data = (0..<total).map { _ in UInt8.random(in: 0...255, using: &random) }
            var received: [[UInt8]] = [[], []]
            for (index, connection) in [pair.client, pair.server].enumerated() {
                var sent = 0
                let write = { (connection: Connection) in
                    while sent < total {
                        let end = min(total, sent + Int.random(in: 1...60_000, using: &random))
                        let piece = Array(data[sent..<end])
                        sent = end
                        // Safe: a byte has no padding.
                        if !(sent % 2 == 0
                            ? connection.write(piece) : connection.write(unsafe piece.span.bytes))
                        {
                            return
                        }
                    }
                    connection.endOutput()
                }
                connection.onDrained(write)
                connection.onReceive { connection, bytes in
                    // Safe: the bytes are copied during the call.
                    unsafe bytes.withUnsafeBytes { unsafe received[index].append(contentsOf: $0) }
                    if bytes.byteCount % 5 == 0 {
                        connection.isReadingPaused = true
                        let timer = Timer(timeInterval: .microseconds(100), repeats: false) { _ in
                            connection.isReadingPaused = false
                        }
                        RunLoop.current.add(timer, forMode: .default)
                    }
                    return bytes.byteCount
                }
                connection.onInputEnd { _ in }
                write(connection)
            }
            try pair.add(to: loop)
            pair.finish(loop)
            #expect(received[0] == data && received[1] == data)
            #expect(pair.clientCalls.reason == .peerClosed && pair.serverCalls.reason == .peerClosed)
        }
    }

    /// With TLS 1.3, the server's tickets arrive after the client's notice of the end.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `an end of the output leaves the input open`(version: TLSVersion) throws {
        try onLoopThread { loop in
            let pair = try SecurePair(client: Certificates.client { $0.versions = version...version })
            pair.server.onInputEnd { connection in
                pair.serverCalls.list.append("input ended")
                connection.write("late answer\n")
                connection.endOutput()
            }
            pair.client.write("question\n")
            pair.client.endOutput()
            try pair.add(to: loop)
            pair.finish(loop)
            #expect(pair.serverCalls.list == ["connected", "question", "input ended", "end"])
            #expect(pair.clientCalls.list == ["connected", "late answer", "end"])
            #expect(pair.clientCalls.reason == .peerClosed && pair.serverCalls.reason == .peerClosed)
        }
    }

    @Test
    func
        `a connection closed with nothing unsent ends in order, and one with unsent bytes is truncated`()
        throws
    {
        try onLoopThread { loop in
            let first = try SecurePair()
            try first.connect(loop)
            first.takeTickets(loop)
            first.client.close()
            first.finish(loop)
            #expect(first.serverCalls.reason == .peerClosed && first.clientCalls.reason == .closed)

            let second = try SecurePair()
            try second.connect(loop)
            second.takeTickets(loop)
            second.server.onReceive { _, bytes in bytes.byteCount }
            second.client.write([UInt8](repeating: 1, count: 3_000_000))
            loop.settle()
            second.server.isReadingPaused = true
            second.client.write([UInt8](repeating: 1, count: 3_000_000))
            loop.settle()
            #expect(second.client.unsentByteCount > 0)
            second.client.close()
            second.server.isReadingPaused = false
            second.finish(loop)
            #expect(second.serverCalls.error?.reason == .truncated)
        }
    }

    @Test func `a reset sends no end of the stream`() throws {
        try onLoopThread { loop in
            let pair = try SecurePair()
            try pair.connect(loop)
            pair.takeTickets(loop)
            pair.client.reset()
            pair.finish(loop)
            #expect(pair.serverCalls.error?.reason == .truncated, "a Unix socket is not reset, but ends")
            #expect(pair.clientCalls.reason == .closed)
        }
    }

    // Guarantees: No handler is called while OpenSSL works: handlers may close the connection and run the loop.
    @Test func `a handler runs the loop, closes its connection, and is called no more`() throws {
        try onLoopThread { loop in
            let pair = try SecurePair()
            try pair.connect(loop)
            pair.server.onFrame(.lines()) { connection, line in
                pair.serverCalls.list.append("line")
                RunLoop.current.run(in: .default, until: .now + .milliseconds(5))
                connection.close()
                RunLoop.current.run(in: .default, until: .now + .milliseconds(5))
            }
            pair.client.write("one\ntwo\nthree\n")
            pair.finish(loop)
            #expect(pair.serverCalls.list == ["connected", "line", "end"])
            #expect(pair.clientCalls.reason == .peerClosed)
        }
    }

    /// The kernel does not report bytes that OpenSSL has read ahead with the end of the client's hand-shake.
    @Test func `bytes that were read ahead reach a handler that is set later, and one that pauses`() throws {
        try onLoopThread { loop in
            let ends = try Loopback.pair()
            let server = try Connection(OwnedDescriptor(ends.0), tls: Certificates.server())
            let client = try Connection(
                OwnedDescriptor(ends.1), tls: Certificates.client(), serverName: "localhost")
            client.write([UInt8](repeating: 7, count: 40_000))
            try loop.add(server, forMode: .default)
            try loop.add(client, forMode: .default)
            loop.run(until: "both are connected") { server.isConnected && client.isConnected }
            for _ in 0..<5 { loop.pass() }
            var count = 0
            server.onReceive { server, bytes in
                count += 10_000
                server.isReadingPaused = true
                let timer = Timer(timeInterval: .zero, repeats: false) { _ in server.isReadingPaused = false }
                loop.add(timer, forMode: .default)
                return 10_000
            }
            loop.run(until: "all is read") { count == 40_000 }
            #expect(server.receivedByteCount == 40_000)
        }
    }

    @Test func `a session is resumed, but not after a reload, and not without tickets`() throws {
        for version in [TLSVersion.tls12, .tls13] {
            try onLoopThread { loop in
                let server = try Certificates.server()
                let client = try Certificates.client { $0.versions = version...version }
                let isResumed = { (server: TLSServerContext, client: TLSClientContext) -> Bool in
                    let pair = try SecurePair(server: server, client: client)
                    pair.client.write("hello\n")
                    pair.server.write("hello\n")
                    try pair.connect(loop)
                    loop.run(until: "the ticket is there") { pair.clientCalls.list.count == 2 }
                    pair.client.closeAfterWriting()
                    pair.finish(loop)
                    let details = try #require(pair.client.tls)
                    #expect(details.isResumed == pair.server.tls?.isResumed)
                    #expect(details.peerCertificate?.commonName == "server")
                    return details.isResumed
                }
                #expect(try !isResumed(server, client))
                #expect(try isResumed(server, client))
                #expect(try isResumed(server, client))
                try server.reload(Certificates.identity(.server))
                #expect(try !isResumed(server, client))
                let without = try Certificates.server { $0.ticketCount = 0 }
                #expect(try !isResumed(without, client) && !isResumed(without, client))
                let forgetful = try Certificates.client { $0.sessionLimit = 0 }
                #expect(try !isResumed(server, forgetful) && !isResumed(server, forgetful))
            }
        }
    }
}

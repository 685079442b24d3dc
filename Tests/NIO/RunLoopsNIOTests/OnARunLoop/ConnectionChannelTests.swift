import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import RunLoops
import RunLoopsNIO
import Streams
import TLSStreams
import Testing

/// Channels over connections of Streams.
struct ConnectionChannelTests {
    @Test func `a channel over a connection echoes, and closes with its peer`() throws {
        let log = Log()
        let server = try ConnectionServer { channel, _ in
            try channel.pipeline.syncOperations.addHandlers([Recorder(log), Echo()])
        }
        let client = RawClient(try server.address)
        client.send("hello")
        #expect(client.read(5) == "hello")
        client.close()
        log.wait(for: "removed")
        #expect(
            log.text
                == "added registered active:true read:hello complete complete inactive:false unregistered removed"
        )
        server.end()
    }

    @Test func `a channel over TLS is active after the hand-shake, and its handlers know the protocol`()
        throws
    {
        let log = Log()
        let server = try ConnectionServer(tls: Certificate.server(["echo/1"])) { channel, connection in
            log.note(connection.tls?.applicationProtocol ?? "none")
            try channel.pipeline.syncOperations.addHandlers([Recorder(log), Echo()])
        }
        let count = 3 << 20
        let sum = Place<Int>()
        let port = UInt16(server.port)
        try server.loop.runLoop.performAndWait {
            let connection = Connection(
                connectingTo: .tcp(host: "127.0.0.1", port: port), tls: try Certificate.client(["echo/1"]),
                serverName: "localhost")
            server.loop.eventLoop.makeChannel(over: connection) { channel in
                channel.eventLoop.makeCompletedFuture {
                    var received = 0
                    try channel.pipeline.syncOperations.addHandler(
                        Reacting(
                            active: { context in
                                context.writeAndFlush(
                                    NIOAny(ByteBuffer(repeating: 7, count: count)), promise: nil)
                            },
                            read: { context, text in
                                #expect(text.utf8.count <= 16 << 10)
                                received += text.utf8.count
                                if received == count {
                                    sum.put(received)
                                    context.close(promise: nil)
                                }
                            }))
                }
            }
        }
        #expect(sum.get() == count)
        log.wait(for: "removed")
        #expect(log.text.hasPrefix("echo/1 added registered active:true read:"))
        #expect(log.text.hasSuffix("inactive:false unregistered removed"))
        #expect(!log.text.contains("error"))
        server.end()
    }

    // Guarantees: The promise of a write over TLS is kept when the kernel has accepted the encrypted bytes, and not before.
    @Test func `bytes arrive if their promises are kept, although TLS holds the rest`() throws {
        let size = 10_000
        let made = Place<any Channel>()
        let server = try ConnectionServer(tls: Certificate.server()) { channel, _ in made.put(channel) }
        let peer = try LoopThread()
        let received = NIOLockedValueBox(0)
        let log = Log()
        let port = UInt16(server.port)
        let client = try peer.runLoop.performAndWait {
            let connection = Connection(
                connectingTo: .tcp(host: "127.0.0.1", port: port), tls: try Certificate.client(),
                serverName: "localhost")
            connection.onReceive { _, bytes in
                received.withLockedValue { $0 += bytes.byteCount }
                return bytes.byteCount
            }
            connection.onEnd { _, _ in log.note("ended") }
            connection.isReadingPaused = true
            try RunLoop.current.add(connection, forMode: .common)
            return Bound(connection: connection)
        }
        let channel = made.get()
        let kept = NIOLockedValueBox(0)
        try channel.eventLoop.submit {
            for _ in 0..<3_000 {
                channel.writeAndFlush(ByteBuffer(repeating: 1, count: size)).whenSuccess {
                    kept.withLockedValue { $0 += 1 }
                }
            }
        }.wait()
        // The writes are stuck when turns of the channel keep no more promises.
        var before = -1
        while kept.withLockedValue({ $0 }) != before {
            before = kept.withLockedValue { $0 }
            for _ in 0..<20 { try channel.eventLoop.submit {}.wait() }
        }
        try channel.close().wait()
        peer.runLoop.perform { client.connection.isReadingPaused = false }
        log.wait(for: "ended")
        let (count, sent) = (received.withLockedValue { $0 }, kept.withLockedValue { $0 } * size)
        #expect(sent > 0 && sent < 3_000 * size)
        #expect(count >= sent && count < sent + (64 << 10))
        peer.end()
        server.end()
    }

    @Test func `a channel gets the bytes that the connection holds, and then those of the socket`() throws {
        let loop = try LoopThread()
        let log = Log()
        let made = Place<Bound>()
        let port = try loop.runLoop.performAndWait {
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(listener, forMode: .common) { accepted in
                let connection = Connection(accepted)
                connection.onReceive { connection, _ in
                    made.put(Bound(connection: connection))
                    return 0
                }
                do { try RunLoop.current.add(connection, forMode: .common) } catch { log.note("\(error)") }
            }
            return Int(listener.localAddress.port ?? 0)
        }
        let client = RawClient(try .init(ipAddress: "127.0.0.1", port: port))
        client.send("held ")
        let bound = made.get()
        let isHere = Place<Bool>()
        let isSent = Place<Bool>()
        loop.runLoop.perform {
            isHere.put(true)
            _ = isSent.get()
            loop.eventLoop.makeChannel(over: bound.connection) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Echo())
                }
            }
        }
        _ = isHere.get()
        client.send("new")
        isSent.put(true)
        #expect(client.read(8) == "held new")
        loop.end()
    }

    // Guarantees: The next handler of a connection that is taken out of a channel first gets the bytes that no handler has
    // consumed.
    @Test func `the next reader of a connection first gets what the channel's handlers have left`() throws {
        let log = Log()
        let server = try ConnectionServer { channel, connection in
            let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes))
            try channel.pipeline.syncOperations.addHandlers([
                decoder, HTTPResponseEncoder(), Upgrading(log, removing: [decoder]),
            ])
        }
        let client = RawClient(try server.address)
        client.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: lines\r\n\r\none\ntw")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 101"))
        client.send("o\n")
        #expect(client.read(8) == "one\ntwo\n")
        client.close()
        log.wait(for: "ended")
        #expect(log.text == "removed taken one two ended")
        server.end()
    }
}

/// Upgrades the connection of a request to an echo of lines.
private final class Upgrading: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private let log: Log
    private let handlers: [any RemovableChannelHandler]

    init(_ log: Log, removing handlers: [any RemovableChannelHandler]) {
        self.log = log
        self.handlers = handlers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data), let loop = context.eventLoop as? RunLoopEventLoop else {
            return
        }
        let head = HTTPResponseHead(
            version: .http1_1, status: .switchingProtocols,
            headers: ["connection": "upgrade", "upgrade": "lines"])
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        loop.takeConnection(of: context.channel, removing: handlers + [self]) { [log] result in
            do {
                let connection = try result.get()
                log.note("taken")
                connection.onFrame(.lines()) { connection, line in
                    log.note(unsafe line.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
                    connection.write(line)
                    connection.write("\n")
                }
                connection.onEnd { _, _ in log.note("ended") }
            } catch { log.note("failed:\(error)") }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { log.note("removed") }
}

import NIOConcurrencyHelpers
import NIOCore
import RunLoops
import RunLoopsNIO
import Streams
import TLSStreams
import Testing

/// The ends of channels over connections, and what cannot be done with them.
struct ConnectionChannelEndTests {
    /// A server with one connection.
    private struct Pair {
        let server: ConnectionServer
        let channel: any Channel
        let client: RawClient
        let log: Log

        init(
            options: Connection.Options = .init(),
            _ prepare: @escaping @Sendable (Connection) -> Void = { _ in }
        ) throws {
            let log = Log()
            let made = Place<any Channel>()
            server = try ConnectionServer(options: options) { channel, connection in
                prepare(connection)
                try channel.pipeline.syncOperations.addHandler(Recorder(log))
                made.put(channel)
            }
            client = RawClient(try server.address)
            log.wait(for: "active:true")
            channel = made.get()
            self.log = log
        }

        var loop: RunLoopEventLoop { server.loop.eventLoop }

        /// Takes the connection, and notes what comes of it.
        func take(then body: @escaping @Sendable (Connection) -> Void = { _ in }) throws {
            try loop.submit { [loop, channel, log] in
                loop.takeConnection(of: channel) { result in
                    switch result {
                    case .success(let connection):
                        log.note("taken")
                        body(connection)
                    case .failure(let error): log.note("kept:\(name(of: error))")
                    }
                }
            }.wait()
        }
    }

    @Test func `a time-out of the connection is an error for the handlers, and closes the channel`() throws {
        var options = Connection.Options()
        options.idleTimeout = .milliseconds(20)
        let pair = try Pair(options: options)
        pair.log.wait(for: "removed")
        #expect(
            pair.log.text
                == "added registered active:true error:the-connection-has-ended:-idle-for-too-long "
                + "inactive:false unregistered removed")
        #expect(pair.client.read(1) == "<end>")
        pair.server.end()
    }

    @Test func `bytes that have arrived keep a channel from being idle`() throws {
        let made = Place<Bound>()
        let pair = try Pair { made.put(Bound(connection: $0)) }
        let isHeld = Place<Bool>()
        let isSent = Place<Bool>()
        let held = pair.loop.submit {
            isHeld.put(true)
            _ = isSent.get()
            let connection = made.get().connection
            connection.options.idleTimeout = .milliseconds(10)
            let late = ContinuousClock.now + .milliseconds(20)
            while ContinuousClock.now < late {}
        }
        _ = isHeld.get()
        pair.client.send("b")
        isSent.put(true)
        try held.wait()
        pair.log.wait(for: "removed")
        #expect(pair.log.text.hasPrefix("added registered active:true read:b complete error:"))
        pair.server.end()
    }

    @Test func `a connection that another thread closes ends its channel`() throws {
        let made = Place<Bound>()
        let pair = try Pair { made.put(Bound(connection: $0)) }
        made.get().connection.close()
        pair.log.wait(for: "removed")
        #expect(
            pair.log.text
                == "added registered active:true error:I/O-on-closed-channel inactive:false unregistered removed"
        )
        pair.server.end()
    }

    @Test func `bytes that were written to the connection before are sent first`() throws {
        let pair = try Pair { $0.write("first ") }
        try pair.channel.writeAndFlush(ByteBuffer(string: "second")).wait()
        #expect(pair.client.read(12) == "first second")
        pair.server.end()
    }

    @Test func `a channel sends what was flushed before it gives its connection away`() throws {
        let pair = try Pair()
        let size = 16 << 20
        pair.log.note("write", pair.channel.writeAndFlush(ByteBuffer(repeating: 1, count: size)))
        pair.log.note("unflushed", pair.channel.write(ByteBuffer(string: "x")))
        try pair.take { connection in
            connection.write("later")
            connection.closeAfterWriting()
        }
        #expect(pair.client.readToEnd() == size + 5)
        pair.log.wait(for: "removed")
        let text = pair.log.text
        #expect(text.contains("write:ok"))
        #expect(text.contains("unflushed:I/O-on-closed-channel inactive:false unregistered taken"), "\(text)")
        pair.server.end()
    }

    @Test func `a connection that ends before everything is sent is not given away`() throws {
        let pair = try Pair()
        pair.log.note("write", pair.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20)))
        try pair.take()
        pair.client.reset()
        pair.log.wait(for: "removed")
        let words = pair.log.text.split(separator: " ").map(String.init)
        #expect(words.contains("write:errno-104") && words.contains("kept:errno-104"), "\(words)")
        #expect(!words.contains("taken"))
        pair.server.end()
    }

    @Test func `the end of the loop gives no connection away`() throws {
        let pair = try Pair()
        _ = pair.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20))
        try pair.take()
        pair.server.end()
        #expect(pair.log.text.contains("kept:"))
    }

    @Test func `only an active channel over a connection gives one away`() throws {
        let pair = try Pair()
        let client = pair.client
        let plain = Place<any Channel>()
        let listener = try pair.server.loop.bind { plain.put($0) }
        let other = RawClient(listener)
        let refused: @Sendable (any Channel) throws -> String = { [loop = pair.loop] channel in
            let word = Place<String>()
            try loop.submit {
                loop.takeConnection(of: channel) { result in
                    if case .failure(let error) = result { word.put(name(of: error)) }
                }
            }.wait()
            return word.get()
        }
        #expect(try refused(plain.get()) == "Inappropriate-operation-for-state")
        client.close()
        pair.log.wait(for: "removed")
        #expect(try refused(pair.channel) == "I/O-on-closed-channel")
        _ = other.socket
        pair.server.end()
    }

    @Test func `a hand-shake that fails makes no channel`() throws {
        let log = Log()
        let server = try ConnectionServer(tls: Certificate.server(), log: log) { _, _ in
            log.note("initialized")
        }
        let client = RawClient(try server.address)
        client.send("GET / HTTP/1.1\r\n\r\n")
        _ = client.readToEnd()
        let loop = try LoopThread()
        let listener = try loop.listener { _ in log.note("initialized") }
            .childConnection { Connection($0, tls: Certificate.shared.server) }
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Failures(log))
                }
            }.bind(host: "127.0.0.1", port: 0).wait()
        let other = RawClient(listener)
        other.send("GET / HTTP/1.1\r\n\r\n")
        _ = other.readToEnd()
        log.wait(for: "refused")
        log.wait(for: "failed")
        #expect(!log.text.contains("initialized"))
        loop.end()
        server.end()
    }
}

/// Notes that a connection of a listener could not be made.
private final class Failures: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    private let log: Log

    init(_ log: Log) { self.log = log }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .tls? = (error as? ConnectionEndedError)?.reason { log.note("failed") }
    }
}

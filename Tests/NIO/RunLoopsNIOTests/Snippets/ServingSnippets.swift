import NIOCore
import NIOHTTP1
import RunLoops
import RunLoopsNIO
import Streams
import TLSStreams
import Testing

/// Answers each request with the number of requests.
private final class CounterHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        count += 1
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "1"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "\(count)")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

final class StatsHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    private var counts: [String: Int] = [:]

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let name = String(buffer: unwrapInboundIn(data).data)
        counts[name, default: 0] += 1
        context.writeAndFlush(data, promise: nil)
    }
}

struct ServingSnippets {
    private func serve(_ port: Int, _ report: @escaping @Sendable (Result<any Channel, any Error>) -> Void) {
        let eventLoop = RunLoopEventLoop()
        let server = RunLoopListenerBootstrap(group: eventLoop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(CounterHandler())
                }
            }
            .bind(host: "127.0.0.1", port: port)
        server.whenComplete { report($0) }
        RunLoop.current.run()
    }

    @Test func `a thread serves HTTP between its other work`() throws {
        let place = Place<Result<any Channel, any Error>>()
        let thread = try RunLoopThread(name: "snippet")
        thread.runLoop.perform { serve(0) { place.put($0) } }
        let server = try place.get().get()
        let client = RawClient(server)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n1").hasSuffix("1"))
        thread.stop()
        thread.join()
    }

    @Test func `connections with TLS carry channels`() async throws {
        let loop = try LoopThread()
        let eventLoop = loop.eventLoop
        let context = try Certificate.server()
        let server = try await RunLoopListenerBootstrap(group: eventLoop)
            .childConnection { accepted in Connection(accepted, tls: context) }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(CounterHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = UInt16(server.localAddress?.port ?? 0)
        let (answers, found) = AsyncStream<String>.makeStream()
        try await loop.runLoop.performAndWait {
            let connection = Connection(
                connectingTo: .tcp(host: "127.0.0.1", port: port), tls: try Certificate.client(),
                serverName: "localhost")
            connection.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            connection.onReceive { connection, bytes in
                let text = String(decoding: bytes, as: UTF8.self)
                guard text.hasSuffix("\r\n\r\n1") else { return 0 }
                found.yield(text)
                connection.close()
                return bytes.byteCount
            }
            try RunLoop.current.add(connection, forMode: .common)
        }
        var iterator = answers.makeAsyncIterator()
        #expect(await iterator.next()?.hasPrefix("HTTP/1.1 200 OK") == true)
        try await eventLoop.shutdownGracefully()
        loop.thread.stop()
        await loop.thread.join()
    }

    @Test func `a listener has limits, and its connections are a sequence`() async throws {
        let loop = try LoopThread()
        let eventLoop = loop.eventLoop
        var limits = Listener.Options()
        limits.connectionLimit = 1_000
        limits.connectionLimitPerPeer = 20
        let server = try await RunLoopListenerBootstrap(group: eventLoop)
            .listenerOptions(limits)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        #expect(server.channel.isActive)
        try await server.executeThenClose { _ in }
        try await eventLoop.shutdownGracefully()
        loop.thread.stop()
        await loop.thread.join()
    }

    @Test func `a channel counts datagrams`() async throws {
        let loop = try LoopThread()
        let eventLoop = loop.eventLoop
        let channel = try await RunLoopDatagramBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(StatsHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let log = Log()
        let client = try await RunLoopDatagramBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        try await client.writeAndFlush(envelope("requests", to: channel))
        log.wait(for: "read:requests")
        loop.thread.stop()
        await loop.thread.join()
    }

    @Test func `a task talks to a child through its pipes`() async throws {
        let loop = try LoopThread()
        let eventLoop = loop.eventLoop
        let child = ChildPipes()
        let fromChild = child.fromChild()
        let toChild = child.toChild()
        let channel = try await RunLoopPipeBootstrap(group: eventLoop)
            .takingOwnershipOfDescriptors(input: fromChild, output: toChild) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        child.send("hello")
        try await channel.executeThenClose { inbound, outbound in
            for try await bytes in inbound {
                try await outbound.write(bytes)
                break
            }
        }
        #expect(child.rest() == "hello")
        child.endOutput()
        child.endInput()
        loop.thread.stop()
        await loop.thread.join()
    }
}

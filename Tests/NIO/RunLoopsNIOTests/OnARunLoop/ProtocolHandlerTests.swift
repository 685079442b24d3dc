import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import RunLoops
import RunLoopsNIO
import Testing

/// Handlers of other packages, unchanged.
struct ProtocolHandlerTests {
    private static func contexts(_ protocols: [String]) throws -> (
        server: NIOSSLContext, client: NIOSSLContext
    ) {
        let certificates = try NIOSSLCertificate.fromPEMBytes(Certificate.chain)
        var server = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Certificate.key, format: .pem)))
        server.applicationProtocols = protocols
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = .certificates(certificates)
        client.applicationProtocols = protocols
        return (try NIOSSLContext(configuration: server), try NIOSSLContext(configuration: client))
    }

    @Test func `NIOSSL encrypts both ends of a connection`() throws {
        let loop = try LoopThread()
        let contexts = try ProtocolHandlerTests.contexts([])
        let log = Log()
        let server = try loop.bind { channel in
            try channel.pipeline.syncOperations.addHandlers([
                NIOSSLServerHandler(context: contexts.server), Echo(),
            ])
        }
        let channel = try RunLoopConnectionBootstrap(group: loop.eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([
                    NIOSSLClientHandler(context: contexts.client, serverHostname: "localhost"), Recorder(log),
                ])
            }
        }.connect(host: "127.0.0.1", port: server.localAddress!.port!).wait()
        try channel.writeAndFlush(ByteBuffer(string: "secret")).wait()
        log.wait(for: "read:secret")
        try channel.close().wait()
        try loop.eventLoop.syncShutdownGracefully()
        #expect(log.text.hasSuffix("inactive:false unregistered removed"))
        loop.end()
    }

    @Test func `NIOHTTP2 serves streams over NIOSSL`() async throws {
        let loop = try LoopThread()
        let contexts = try ProtocolHandlerTests.contexts(["h2"])
        let server = try await RunLoopListenerBootstrap(group: loop.eventLoop).childChannelInitializer {
            channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: contexts.server))
                _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
                    mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
                ) { stream in
                    stream.eventLoop.makeCompletedFuture {
                        try stream.pipeline.syncOperations.addHandlers([
                            HTTP2FramePayloadToHTTP1ServerCodec(), PathAnswer(),
                        ])
                    }
                }
            }
        }.bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let (channel, streams) = try await RunLoopConnectionBootstrap(group: loop.eventLoop)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: contexts.client, serverHostname: "localhost"))
                    let streams = try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
                        mode: .client
                    ) { $0.eventLoop.makeSucceededVoidFuture() }
                    return (channel, streams)
                }
            }
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let stream = try await streams.openStream { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandler(
                                HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https))
                            return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                                wrappingChannelSynchronously: stream)
                        }
                    }
                    return try await stream.executeThenClose { inbound, outbound in
                        let head = HTTPRequestHead(
                            version: .http2, method: .GET, uri: "/\(number)", headers: ["host": "localhost"])
                        try await outbound.write(.head(head))
                        try await outbound.write(.end(nil))
                        var text = ""
                        for try await part in inbound {
                            if case .body(let bytes) = part { text += String(buffer: bytes) }
                            if case .end = part { break }
                        }
                        return text
                    }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == Set((0..<8).map { "path /\($0)" }))
        try await channel.close()
        try await loop.eventLoop.shutdownGracefully()
        loop.thread.stop()
        await loop.thread.join()
    }
}

/// Answers each request with its path.
private final class PathAnswer: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private var path = ""

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): path = head.uri
        case .body: break
        case .end:
            context.write(wrapOutboundOut(.head(.init(version: .http2, status: .ok))), promise: nil)
            context.write(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "path \(path)")))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

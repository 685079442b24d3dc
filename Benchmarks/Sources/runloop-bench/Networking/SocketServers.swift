internal import HTTPServers
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket
internal import RunLoops
internal import RunLoopsNIO
internal import Streams

/// The servers of ``SocketEchoes``, which send each message back.
enum SocketPeer: CaseIterable {
    case nio, loop, server

    var title: String {
        switch self {
        case .nio: "SwiftNIO"
        case .loop: "SwiftNIO's handlers on a run loop"
        case .server: "WebSocket of HTTPServers"
        }
    }

    func start() throws -> any SocketServer {
        switch self {
        case .nio: try NIOSocketServer()
        case .loop: try LoopSocketServer()
        case .server: try HTTPSocketServer()
        }
    }
}

/// A server of WebSockets on a thread of its own.
protocol SocketServer: AnyObject {
    /// The number of the server's thread, for pinning.
    var number: ThreadNumber { get }
    var port: UInt16 { get }
    func stop() throws
}

/// A server on SwiftNIO's own event loop.
private final class NIOSocketServer: SocketServer {
    private let loop = NIOLoop()
    private let channel: any Channel

    init() throws {
        channel = try ServerBootstrap(group: loop.loop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer(addEchoes)
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var number: ThreadNumber { loop.number }
    var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }

    func stop() throws { try channel.close().wait() }
}

/// A server with SwiftNIO's handlers on an event loop of a run loop.
private final class LoopSocketServer: SocketServer {
    private let thread: RunLoopThread
    private let channel: any Channel
    let number: ThreadNumber

    init() throws {
        thread = try RunLoopThread(name: "socket handlers")
        number = try thread.prepare()
        let loop = try thread.runLoop.performAndWait { RunLoopEventLoop() }
        channel = try RunLoopListenerBootstrap(group: loop)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer(addEchoes)
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }

    func stop() throws {
        try channel.close().wait()
        thread.stop()
        thread.join()
    }
}

/// A server on `HTTPServer` of this package.
private final class HTTPSocketServer: SocketServer {
    private let thread: RunLoopThread
    let number: ThreadNumber
    let port: UInt16

    init() throws {
        thread = try RunLoopThread(name: "socket server")
        number = try thread.prepare()
        port = try thread.runLoop.performAndWait {
            // The loop keeps the server alive.
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(server, forMode: .default) { exchange in
                exchange.upgradeToWebSocket { socket in
                    socket.onMessage { socket, message in
                        if case .binary(let bytes) = message { socket.send(bytes) }
                    }
                }
            }
            return server.localAddress.port ?? 0
        }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// Adds SwiftNIO's handlers for HTTP, the upgrade, and an echo.
@Sendable private func addEchoes(_ channel: any Channel) -> EventLoopFuture<Void> {
    let upgrader = NIOWebSocketServerUpgrader(
        maxFrameSize: 1 << 20, shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
        upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(EchoHandler())
            }
        })
    return channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
    }
}

private final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard frame.opcode == .binary else { return }
        let answer = WebSocketFrame(fin: true, opcode: .binary, data: frame.unmaskedData)
        context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RunLoops
internal import RunLoopsNIO
internal import Streams

/// The servers of ``HandlerServing``: each a pair of an event loop and a way to make an answer.
enum HandlerPeer: CaseIterable {
    case nio, loop, connection, hop, call

    var title: String {
        switch self {
        case .nio: "SwiftNIO"
        case .loop: "on a run loop"
        case .connection: "on a run loop, over a Connection"
        case .hop: "SwiftNIO, with a hop to an actor"
        case .call: "on a run loop, with a call of an actor"
        }
    }

    /// True if each answer has a number from an actor.
    var usesActor: Bool {
        switch self {
        case .nio, .loop, .connection: false
        case .hop, .call: true
        }
    }

    func start() throws -> any HandlerServer {
        switch self {
        case .nio: try NIOHandlerServer(hops: false)
        case .hop: try NIOHandlerServer(hops: true)
        case .loop: try LoopHandlerServer(calls: false) { $0 }
        case .call: try LoopHandlerServer(calls: true) { $0 }
        case .connection: try LoopHandlerServer(calls: false) { $0.childConnection { Connection($0) } }
        }
    }
}

/// A server with SwiftNIO's HTTP handlers.
protocol HandlerServer: AnyObject {
    /// The numbers of the server's threads, for pinning.
    var numbers: [ThreadNumber] { get }
    var port: UInt16 { get }
    func stop() throws
}

/// Counts on the thread of a run loop.
private actor LoopCounter {
    let loop: RunLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var count = 0

    init(_ loop: RunLoop) { self.loop = loop }

    func next() -> Int {
        count += 1
        return count
    }
}

/// A server on SwiftNIO's own event loop, and, for the hops, another thread with a run loop.
private final class NIOHandlerServer: HandlerServer {
    private let loop = NIOLoop()
    private let channel: any Channel
    private let thread: RunLoopThread?
    let numbers: [ThreadNumber]

    init(hops: Bool) throws {
        let thread = hops ? try RunLoopThread(name: "actor") : nil
        self.thread = thread
        numbers = [loop.number] + (try thread.map { [try $0.prepare()] } ?? [])
        let counter = thread.map { LoopCounter($0.runLoop) }
        channel = try ServerBootstrap(group: loop.loop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        counter.map { AnswerHandler(.hop($0)) } ?? AnswerHandler(.greeting))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }

    func stop() throws {
        try channel.close().wait()
        thread?.stop()
        thread?.join()
    }
}

/// A server on an event loop of a run loop.
private final class LoopHandlerServer: HandlerServer {
    private let thread: RunLoopThread
    private let channel: any Channel
    let numbers: [ThreadNumber]

    init(
        calls: Bool, _ change: (RunLoopListenerBootstrap) -> RunLoopListenerBootstrap
    ) throws {
        thread = try RunLoopThread(name: "handlers")
        numbers = [try thread.prepare()]
        let loop = try thread.runLoop.performAndWait { RunLoopEventLoop() }
        let counter = LoopCounter(thread.runLoop)
        channel = try change(RunLoopListenerBootstrap(group: loop))
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        AnswerHandler(calls ? .call(counter) : .greeting))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }

    func stop() throws {
        try channel.close().wait()
        thread.stop()
        thread.join()
    }
}

/// Answers each request with a greeting of 13 bytes.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The way to an answer.
    enum Way {
        case greeting
        /// The handler awaits a number of an actor on another thread.
        case hop(LoopCounter)
        /// The handler calls the actor, to which it is isolated.
        case call(LoopCounter)
    }

    private let way: Way

    init(_ way: Way) { self.way = way }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        switch way {
        case .greeting: answer(context)
        case .call(let counter):
            if counter.assumeIsolated({ $0.next() }) > 0 { answer(context) }
        case .hop(let counter):
            let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
            let loop = context.eventLoop
            // The task begins on the actor's thread, so there is one hop in each direction.
            Task(executorPreference: counter.loop.taskExecutor) {
                if await counter.next() > 0 {
                    loop.execute { bound.value.handler.answer(bound.value.context) }
                }
            }
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        let text = "Hello, world!"
        let fields: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8", "Content-Length": String(text.utf8.count),
        ]
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(string: text)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

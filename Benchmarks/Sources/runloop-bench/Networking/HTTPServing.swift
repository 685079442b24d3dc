internal import CThreadControl
internal import CWeb
internal import CYardsticks
internal import HTTPServers
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RunLoops
internal import Streams

/// Measures the processor time that an HTTP/1.1 server's thread spends on a request, with 64 connections.
///
/// Read the ratio to SwiftNIO first. The load comes from C on another thread, whose time does
/// not count.
struct HTTPServing: Measurement {
    private enum Peer: CaseIterable {
        case server, nio

        var title: String {
            switch self {
            case .server: "HTTPServer"
            case .nio: "SwiftNIO"
            }
        }

        func start() throws -> any HelloServer {
            switch self {
            case .server: try LoopHelloServer()
            case .nio: try NIOHelloServer()
            }
        }
    }

    private static let connections: Int32 = 64

    private let thread = WorkerThread()
    private var servers: [Peer: any HelloServer] = [:]
    private var processor = RoundFigures<Peer>()
    private var elapsed = RoundFigures<Peer>()
    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { for peer in Peer.allCases { servers[peer] = try peer.start() } }
        let requests: Int32 = session.isQuick ? 1_280 : 6_400
        for peer in Peer.allCases.turns(of: round) {
            stage = peer.title
            guard let server = servers[peer] else { continue }
            let processors = session.machine.processors
            thread.number.pin(to: [processors[min(1, processors.count - 1)]])
            let visitors = try Visitors(server.port, Self.connections, on: thread)
            defer { visitors.leave() }
            // Warms up each connection.
            try visitors.ask(Self.connections)
            server.number.pin(to: [processors[0]])
            let before = bench_thread_time(server.number)
            let start = bench_now()
            try visitors.ask(requests)
            let time = Double(bench_now() - start)
            let used = Double(bench_thread_time(server.number) - before)
            if round < 0 { continue }
            processor.add(used / Double(requests), of: peer)
            elapsed.add(time / Double(requests), of: peer)
        }
    }

    mutating func end(in session: Session) throws {
        for server in servers.values { try server.stop() }
        servers = [:]
        thread.end()
    }

    var remarks: [String] {
        [
            "HTTP servers answer on the loopback interface with 13 bytes and their type, each time with a new answer. The clients "
                + "are in C, on another thread: 64 connections with a request under way on each, and every answer is checked."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "HTTP answers, 64 connections (µs of processor time a request)",
            columns: [
                .ranged("µs", "time", .microseconds),
                .ranged("÷ SwiftNIO", "nioRatio", .ratio), .init("M requests/s", "rate", .millions),
            ])
        table.rows = Peer.allCases.map { peer in
            var row = Table.Row(name: peer.title)
            row.add(processor.spread(peer), as: "time")
            row.add(processor.ratio(peer, to: .nio), as: "nioRatio")
            row.add(elapsed.spread(peer) { 1e9 / $0 }, as: "rate")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-H2", "processor time of an HTTP answer, HTTPServer ÷ SwiftNIO", .atMost(0.75),
                figure: processor.ratio(.server, to: .nio))
        ]
    }
}

/// The clients of a server, on one thread.
final class Visitors: @unchecked Sendable {
    // Safe because only the thread uses `visitors`, and the caller waits for the thread.
    private let visitors: OpaquePointer
    private let thread: WorkerThread

    init(_ port: UInt16, _ count: Int32, on thread: WorkerThread) throws(Miscount) {
        guard let visitors = bench_visitors_connect(port, count) else {
            throw Miscount(expected: Int(count), found: 0)
        }
        self.visitors = visitors
        self.thread = thread
    }

    func ask(_ requests: Int32) throws(Miscount) {
        let succeeded = CallCounter()
        thread.runAndWait { [self] in
            if bench_visitors_ask(visitors, requests) { succeeded.increment() }
        }
        if succeeded.count == 0 { throw Miscount(expected: Int(requests), found: -1) }
    }

    func leave() { bench_visitors_leave(visitors) }
}

/// A server on its own thread that answers with a greeting.
private protocol HelloServer: AnyObject {
    /// The number of the server's thread, for pinning, which is valid after the first answer.
    var number: ThreadNumber { get }
    var port: UInt16 { get }
    func stop() throws
}

/// A server on `HTTPServer` of this package.
private final class LoopHelloServer: HelloServer {
    private let thread: RunLoopThread
    let number: ThreadNumber
    let port: UInt16

    init() throws {
        thread = try RunLoopThread(name: "http server")
        number = try thread.prepare()
        port = try thread.runLoop.performAndWait {
            // The loop keeps the server alive.
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(server, forMode: .default) { $0.respond(.text("Hello, world!")) }
            return server.localAddress.port ?? 0
        }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// A server on SwiftNIO with its own HTTP handlers.
private final class NIOHelloServer: HelloServer {
    private let loop = NIOLoop()
    private let channel: any Channel

    init() throws {
        channel = try ServerBootstrap(group: loop.loop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(NIOHelloHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var number: ThreadNumber { loop.number }
    var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }

    /// Stops listening; the clients close their connections, and the thread lasts as long as the program.
    func stop() throws { try channel.close().wait() }
}

private final class NIOHelloHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let text = "Hello, world!"

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let fields: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8", "Content-Length": String(Self.text.utf8.count),
        ]
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(string: Self.text)))),
            promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

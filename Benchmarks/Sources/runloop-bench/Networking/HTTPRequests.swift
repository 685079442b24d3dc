internal import CLoad
internal import CThreadControl
internal import CWeb
internal import CYardsticks
internal import Glibc
internal import RunLoops

/// Measures the processor time that an HTTP/1.1 client's thread spends on a request, with 32 requests under way.
///
/// Read the ratios to libcurl's own interface, with epoll in C, first. The server is in C, on another thread.
///
/// All clients use one thread. The C library gives each thread one of several heaps, and the blocks that an earlier family has left
/// in a heap change the time of an allocation: on two threads, the same clients had ratios from 0.99 to 1.10.
struct HTTPRequests: Measurement {
    private enum Peer: CaseIterable {
        case curl, handlers, tasks

        var title: String {
            switch self {
            case .curl: "curl_multi_socket_action and epoll, in C"
            case .handlers: "HTTPClient"
            case .tasks: "HTTPClient, in tasks"
            }
        }
    }

    private static let parallel = 32

    private let server: HTTPBenchServer
    private let curl: CurlClient
    private let client: LoopClient
    private let thread: RunLoopThread
    private let number: ThreadNumber
    private var processor = RoundFigures<Peer>()
    private var elapsed = RoundFigures<Peer>()
    private(set) var stage = ""

    init() throws {
        server = try HTTPBenchServer()
        thread = try RunLoopThread(name: "http client")
        number = try thread.prepare()
        curl = try CurlClient(thread.runLoop, server.url)
        client = try LoopClient(thread.runLoop, server.url, parallel: Self.parallel)
    }

    mutating func measure(round: Int, in session: Session) throws {
        let requests = session.isQuick ? 640 : 2_560
        let processors = session.machine.processors
        server.number.pin(to: [processors[min(1, processors.count - 1)]])
        for peer in Peer.allCases.turns(of: round) {
            stage = peer.title
            number.pin(to: [processors[0]])
            let before = bench_thread_time(number)
            let start = bench_now()
            switch peer {
            case .curl: try curl.run(Self.parallel, requests)
            case .handlers: try client.runHandlers(requests)
            case .tasks: try client.runTasks(requests)
            }
            let time = Double(bench_now() - start)
            let used = Double(bench_thread_time(number) - before)
            if round < 0 { continue }
            processor.add(used / Double(requests), of: peer)
            elapsed.add(time / Double(requests), of: peer)
        }
    }

    mutating func end(in session: Session) throws { try stop() }

    /// Makes a number of requests, a multiple of 32, in the way of an operation of ``CostCommand``.
    static func make(_ requests: Int, _ operation: CostCommand.Operation) throws {
        let clients = try HTTPRequests()
        switch operation {
        case .httpHandlers: try clients.client.runHandlers(requests)
        case .httpTasks: try clients.client.runTasks(requests)
        default: try clients.curl.run(parallel, requests)
        }
        try clients.stop()
    }

    private func stop() throws {
        client.stop()
        thread.stop()
        thread.join()
        curl.end()
        server.stop()
    }

    var remarks: [String] {
        [
            "A server in C answers on the loopback interface with 13 bytes. Each client keeps 32 requests under way, on 32 "
                + "connections that stay open. All use libcurl's handles again, with similar settings."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "HTTP requests, 32 under way (µs of processor time a request)",
            columns: [
                .ranged("µs", "time", .microseconds), .ranged("÷ libcurl", "ratio", .ratio),
                .init("M requests/s", "rate", .millions),
            ])
        table.rows = Peer.allCases.map { peer in
            var row = Table.Row(name: peer.title)
            row.add(processor.spread(peer), as: "time")
            row.add(processor.ratio(peer, to: .curl), as: "ratio")
            row.add(elapsed.spread(peer) { 1e9 / $0 }, as: "rate")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-H1", "processor time of an HTTP request, HTTPClient ÷ libcurl with epoll", .atMost(1.1),
                figure: processor.ratio(.handlers, to: .curl)),
            TargetRow(
                "B-H1", "processor time of an HTTP request, HTTPClient in tasks ÷ libcurl with epoll",
                .atMost(1.5), figure: processor.ratio(.tasks, to: .curl)),
        ]
    }
}

/// The server that the clients call.
private final class HTTPBenchServer {
    private let thread = WorkerThread()
    private let listener: CInt
    private let stopEvent = bench_event_open(false)
    let url: String

    init() throws {
        listener = bench_ping_listen(0)
        if listener < 0 { throw SystemError(call: "listen", code: errno) }
        url = "http://127.0.0.1:\(bench_ping_port(listener))/"
        thread.run { [listener, stopEvent] in bench_http_serve(listener, stopEvent) }
    }

    var number: ThreadNumber { thread.number }

    func stop() {
        bench_event_write(stopEvent)
        thread.wait()
        thread.end()
        close(stopEvent)
        close(listener)
    }
}

/// A client in C with libcurl's own interface, and its own epoll.
///
/// It does not use the loop. It takes the loop's thread while it runs.
private final class CurlClient: @unchecked Sendable {
    // Safe because only the loop's thread uses `client`, and the caller waits for that thread.
    private let client: OpaquePointer
    private let loop: RunLoop

    init(_ loop: RunLoop, _ url: String) throws {
        guard let client = bench_curl_create(url) else { throw Miscount(expected: 1, found: 0) }
        self.client = client
        self.loop = loop
    }

    func run(_ parallel: Int, _ requests: Int) throws {
        let hasSucceeded = try loop.performAndWait { [self] in
            bench_curl_run(client, Int32(parallel), Int32(requests))
        }
        if !hasSucceeded { throw Miscount(expected: requests, found: -1) }
    }

    func end() { bench_curl_destroy(client) }
}

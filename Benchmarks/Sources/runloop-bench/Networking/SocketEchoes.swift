internal import CThreadControl
internal import CWeb
internal import CYardsticks

/// Measures the processor time that a server's thread spends on a message of a WebSocket that it sends back.
///
/// Read the ratios to SwiftNIO first. The load comes from C on another thread, whose time does not count.
struct SocketEchoes: Measurement {
    private struct Key: Hashable {
        let peer: SocketPeer
        let length: Int32
    }

    private static let connections: Int32 = 16
    private static let lengths: [Int32] = [100, 64 << 10]

    private let thread = WorkerThread()
    private var servers: [SocketPeer: any SocketServer] = [:]
    private var processor = RoundFigures<Key>()
    private var elapsed = RoundFigures<Key>()
    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { for peer in SocketPeer.allCases { servers[peer] = try peer.start() } }
        for length in Self.lengths {
            for peer in SocketPeer.allCases.turns(of: round) { try measure(peer, length, round, session) }
        }
    }

    private mutating func measure(
        _ peer: SocketPeer, _ length: Int32, _ round: Int, _ session: Session
    ) throws {
        stage = "\(peer.title), \(Self.words(for: length))"
        guard let server = servers[peer] else { return }
        let messages: Int32 = (session.isQuick ? 1_280 : 6_400) / (length == 100 ? 1 : 8)
        let processors = session.machine.processors
        thread.number.pin(to: [processors[min(1, processors.count - 1)]])
        let clients = try SocketClients(server.port, Self.connections, length, on: thread)
        defer { clients.leave() }
        // Warms up each connection.
        try clients.ask(Self.connections)
        server.number.pin(to: [processors[0]])
        let before = bench_thread_time(server.number)
        let start = bench_now()
        try clients.ask(messages)
        let time = Double(bench_now() - start)
        let used = Double(bench_thread_time(server.number) - before)
        if round < 0 { return }
        let key = Key(peer: peer, length: length)
        processor.add(used / Double(messages), of: key)
        elapsed.add(time / Double(messages), of: key)
    }

    mutating func end(in session: Session) throws {
        for server in servers.values { try server.stop() }
        servers = [:]
        thread.end()
    }

    var remarks: [String] {
        [
            "Servers of WebSockets send each binary message back. The clients are in C, on another thread: 16 connections with a "
                + "message under way on each, and every byte that comes back is checked."
        ]
    }

    var tables: [Table] {
        Self.lengths.map { length in
            var table = Table(
                title: "Echoes of WebSockets, \(Self.words(for: length)) (µs of processor time a message)",
                columns: [
                    .ranged("µs", "time", .microseconds), .ranged("÷ SwiftNIO", "ratio", .ratio),
                    .init("M messages/s", "rate", .millions),
                ])
            table.rows = SocketPeer.allCases.map { peer in
                let key = Key(peer: peer, length: length)
                var row = Table.Row(name: peer.title)
                row.add(processor.spread(key), as: "time")
                row.add(ratio(peer, length), as: "ratio")
                row.add(elapsed.spread(key) { 1e9 / $0 }, as: "rate")
                return row
            }
            return table
        }
    }

    private static func words(for length: Int32) -> String {
        length == 100 ? "100 bytes" : "\(length >> 10) KiB"
    }

    private func ratio(_ peer: SocketPeer, _ length: Int32) -> Spread? {
        processor.ratio(Key(peer: peer, length: length), to: Key(peer: .nio, length: length))
    }

    func targets(on machine: Machine) -> [TargetRow] {
        Self.lengths.flatMap { length in
            [SocketPeer.server, .loop].map { peer in
                TargetRow(
                    "B-WS",
                    "processor time of an echo of \(Self.words(for: length)), \(peer.title) ÷ SwiftNIO",
                    .atMost(1), figure: ratio(peer, length))
            }
        }
    }
}

/// The clients of a server of WebSockets, on one thread.
private final class SocketClients: @unchecked Sendable {
    // Safe because only the thread uses `sockets`, and the caller waits for the thread.
    private let sockets: OpaquePointer
    private let thread: WorkerThread

    init(_ port: UInt16, _ count: Int32, _ length: Int32, on thread: WorkerThread) throws(Miscount) {
        guard let sockets = bench_sockets_connect(port, count, length) else {
            throw Miscount(expected: Int(count), found: 0)
        }
        self.sockets = sockets
        self.thread = thread
    }

    func ask(_ messages: Int32) throws(Miscount) {
        let succeeded = CallCounter()
        thread.runAndWait { [self] in
            if bench_sockets_ask(sockets, messages) { succeeded.increment() }
        }
        if succeeded.count == 0 { throw Miscount(expected: Int(messages), found: -1) }
    }

    func leave() { bench_sockets_leave(sockets) }
}

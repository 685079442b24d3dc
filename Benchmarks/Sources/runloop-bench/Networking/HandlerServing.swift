internal import CThreadControl
internal import CWeb
internal import CYardsticks
internal import RunLoops

/// Measures the processor time of an HTTP answer by the same handlers of SwiftNIO, on SwiftNIO's own event loop and on a run loop.
///
/// Read the ratios to SwiftNIO first: of answers that the handlers make themselves, and of answers for which they call an actor of a
/// run loop's thread, which is a hop for SwiftNIO's event loop. The load comes from C on another thread, whose time does not count.
struct HandlerServing: Measurement {
    private struct Key: Hashable {
        let peer: HandlerPeer
        let connections: Int32
    }

    private static let sizes: [Int32] = [1, 64]

    private let thread = WorkerThread()
    private var servers: [HandlerPeer: any HandlerServer] = [:]
    private var processor = RoundFigures<Key>()
    private var elapsed = RoundFigures<Key>()
    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { for peer in HandlerPeer.allCases { servers[peer] = try peer.start() } }
        for size in HandlerServing.sizes {
            for peer in HandlerPeer.allCases.turns(of: round) { try measure(peer, size, round, session) }
        }
    }

    private mutating func measure(
        _ peer: HandlerPeer, _ connections: Int32, _ round: Int, _ session: Session
    ) throws {
        stage = "\(peer.title), \(HandlerServing.words(for: connections))"
        guard let server = servers[peer] else { return }
        let requests: Int32 = (session.isQuick ? 1_280 : 6_400) / (connections == 1 ? 4 : 1)
        let processors = session.machine.processors
        thread.number.pin(to: [processors[min(1, processors.count - 1)]])
        let visitors = try Visitors(server.port, connections, on: thread)
        defer { visitors.leave() }
        try visitors.ask(connections)
        for number in server.numbers { number.pin(to: [processors[0]]) }
        let before = server.numbers.map { bench_thread_time($0) }.reduce(0, +)
        let start = bench_now()
        try visitors.ask(requests)
        let time = Double(bench_now() - start)
        let used = Double(server.numbers.map { bench_thread_time($0) }.reduce(0, +) - before)
        if round < 0 { return }
        let key = Key(peer: peer, connections: connections)
        processor.add(used / Double(requests), of: key)
        elapsed.add(time / Double(requests), of: key)
    }

    mutating func end(in session: Session) throws {
        for server in servers.values { try server.stop() }
        servers = [:]
        thread.end()
    }

    var remarks: [String] {
        [
            "The same handlers of SwiftNIO answer on SwiftNIO's own event loop and on a run loop, there with a socket of the "
                + "channel and over a Connection. With an actor, each answer has a number from an actor of a run loop: on the run "
                + "loop's event loop the handler calls it, and on SwiftNIO's own it awaits it. All threads of a server are counted, "
                + "and share a processor."
        ]
    }

    var tables: [Table] {
        HandlerServing.sizes.map { size in
            var table = Table(
                title:
                    "Answers of SwiftNIO's HTTP handlers, \(HandlerServing.words(for: size)) "
                    + "(µs of processor time a request)",
                columns: [
                    .ranged("µs", "time", .microseconds), .ranged("÷ SwiftNIO", "ratio", .ratio),
                    .init("M requests/s", "rate", .millions),
                ])
            table.rows = HandlerPeer.allCases.map { peer in
                let key = Key(peer: peer, connections: size)
                var row = Table.Row(name: peer.title)
                row.add(processor.spread(key), as: "time")
                row.add(ratio(peer, peer.usesActor ? .hop : .nio, size), as: "ratio")
                row.add(elapsed.spread(key) { 1e9 / $0 }, as: "rate")
                return row
            }
            return table
        }
    }

    private static func words(for size: Int32) -> String {
        size == 1 ? "1 connection" : "\(size) connections"
    }

    private func ratio(_ peer: HandlerPeer, _ yardstick: HandlerPeer, _ size: Int32) -> Spread? {
        processor.ratio(Key(peer: peer, connections: size), to: Key(peer: yardstick, connections: size))
    }

    func targets(on machine: Machine) -> [TargetRow] {
        HandlerServing.sizes.flatMap { size in
            let words = HandlerServing.words(for: size)
            return [
                TargetRow(
                    "B-N-HTTP",
                    "processor time of an answer, \(words), SwiftNIO's handlers on a run loop ÷ SwiftNIO",
                    .atMost(1), figure: ratio(.loop, .nio, size)),
                TargetRow(
                    "B-N-HTTP",
                    "processor time of an answer, \(words), the same over a Connection ÷ SwiftNIO",
                    .atMost(1), figure: ratio(.connection, .nio, size)),
                TargetRow(
                    "B-N-HTTP",
                    "processor time of an answer with an actor's number, \(words), called ÷ SwiftNIO with a hop",
                    .atMost(size == 1 ? 0.35 : 0.7), figure: ratio(.call, .hop, size)),
            ]
        }
    }
}

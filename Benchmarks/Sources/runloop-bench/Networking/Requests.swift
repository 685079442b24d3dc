internal import CLoad
internal import CThreadControl

/// Measures the processor time that a server's thread spends on a request over TCP, the PING of Redis.
///
/// Read the ratios to bare epoll and SwiftNIO with 50 connections first. The load comes from C on another thread, whose time does
/// not count.
struct Requests: Measurement {
    private struct Workload: Hashable {
        let connections, active, depth: Int

        init(_ connections: Int, active: Int? = nil, depth: Int = 1) {
            self.connections = connections
            self.active = active ?? connections
            self.depth = depth
        }

        var title: String {
            let number = NumberFormat.grouped(connections)
            let share = active < connections ? ", \(active) of them active" : ""
            return
                "\(number) connections\(share), \(depth) \(depth == 1 ? "request" : "requests") under way on each"
        }
    }

    private struct Key: Hashable {
        let workload: Workload
        let peer: PingPeer
    }

    private static let few = Workload(50)
    private static let all: [PingPeer] = PingPeer.allCases

    /// The workloads of every round.
    private let usual = [few, Workload(50, depth: 16), Workload(500)]
    private let many: Workload
    /// The workloads of B-IO4: the same number of active connections, alone and among many idle connections.
    private let alone = Workload(100)
    private let amongMany: Workload
    private let note: String?

    private let load: PingLoad
    private var servers: [PingPeer: any PingServer] = [:]
    /// The processor time and the elapsed time of a request, in nanoseconds.
    private var processor = RoundFigures<Key>()
    private var elapsed = RoundFigures<Key>()

    private(set) var stage = ""

    init() throws {
        // Both ends of each connection are in this process.
        let most = PingLoad.mostConnections
        many = Workload(min(5_000, most))
        amongMany = Workload(min(10_000, most), active: 100)
        note = most < 10_000 ? "with \(most) connections; \(DescriptorLimit.note)" : nil
        load = try PingLoad(capacity: max(many.connections, amongMany.connections))
    }

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { for peer in Self.all { servers[peer] = try peer.start() } }
        for workload in usual {
            for peer in Self.all.turns(of: round) { try measure(workload, peer, round, session) }
        }
        // Opening many connections takes longer than measuring them.
        let isRare = session.isQuick ? round != 0 : round < 0 || round % 5 != 0
        if isRare { return }
        for peer in Self.all.turns(of: round / 5) { try measure(many, peer, round, session) }
        for peer in [PingPeer.epoll, .streams] {
            for workload in [alone, amongMany] { try measure(workload, peer, round, session) }
        }
    }

    private mutating func measure(
        _ workload: Workload, _ peer: PingPeer, _ round: Int, _ session: Session
    ) throws {
        stage = "\(peer.title), \(workload.title)"
        guard let server = servers[peer] else { return }
        let processors = session.machine.processors
        server.number.pin(to: [processors[0]])
        load.number.pin(to: [processors[min(1, processors.count - 1)]])
        try load.connect(to: server, workload.connections)
        // Warms up each connection with one request.
        try load.run(workload.connections, depth: 1, requests: workload.connections)
        let requests = max(session.isQuick ? 1_000 : 2_000, workload.active) * (workload.depth > 1 ? 4 : 1)
        let before = bench_thread_time(server.number)
        let time = try load.run(workload.active, depth: workload.depth, requests: requests)
        let used = bench_thread_time(server.number) - before
        try load.disconnect()
        if round < 0 { return }
        let key = Key(workload: workload, peer: peer)
        processor.add(Double(used) / Double(requests), of: key)
        elapsed.add(time / Double(requests), of: key)
    }

    mutating func end(in session: Session) throws {
        for server in servers.values { try server.stop() }
        servers = [:]
        load.end()
    }

    var remarks: [String] {
        [
            "A server on one thread answers PING over TCP on the loopback interface. The clients are in C, on another thread, "
                + "keep the same number of requests under way on each connection, and check every byte.",
            "Processor time is that of the server's thread, in the program and the kernel. It includes waking the clients, "
                + "which sleep when they have nothing to do. A server that is slower than the clients finds more requests at "
                + "each wake-up, so that it pays less for each.",
        ]
    }

    var tables: [Table] {
        (usual + [many]).map { table($0, Self.all) }
            + [alone, amongMany].map { table($0, [.epoll, .streams]) }
    }

    private func table(_ workload: Workload, _ peers: [PingPeer]) -> Table {
        var table = Table(
            title: "PING, \(workload.title) (µs of processor time a request)",
            columns: [
                .ranged("µs", "time", .microseconds), .ranged("÷ bare epoll", "ratio", .ratio),
                .init("M requests/s", "rate", .millions),
            ])
        table.rows = peers.map { peer in
            let key = Key(workload: workload, peer: peer)
            var row = Table.Row(name: peer.title)
            row.add(processor.spread(key), as: "time")
            row.add(ratio(workload, peer, .epoll), as: "ratio")
            row.add(elapsed.spread(key) { 1e9 / $0 }, as: "rate")
            return row
        }
        return table
    }

    private func ratio(_ workload: Workload, _ peer: PingPeer, _ yardstick: PingPeer) -> Spread? {
        processor.ratio(Key(workload: workload, peer: peer), to: Key(workload: workload, peer: yardstick))
    }

    var charts: [Chart] {
        let sizes = [Self.few, usual[2], many]
        return [
            .costs(
                "The processor time of a request", level: "connections cost nothing", size: "connections",
                lines: Self.all.map { peer in
                    Chart.Line(
                        name: peer.title, role: peer.role,
                        points: sizes.compactMap { workload in
                            processor.spread(Key(workload: workload, peer: peer)).map {
                                Chart.Point(size: workload.connections, cost: $0)
                            }
                        })
                })
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-IO1", "processor time of a request, 50 connections, Connection ÷ bare epoll",
                .atMost(1.15),
                figure: ratio(Self.few, .streams, .epoll)),
            TargetRow(
                "B-IO1", "processor time of a request, 50 connections, Connection ÷ SwiftNIO", .atMost(0.8),
                figure: ratio(Self.few, .streams, .nio)),
            TargetRow(
                "B-IO1", "processor time of a request, 50 connections, DescriptorSource ÷ bare epoll",
                .atMost(1.05), figure: ratio(Self.few, .source, .epoll)),
            TargetRow(
                "B-IO4", "processor time of a request, 100 active of 10,000 connections ÷ 100", .atMost(1.2),
                figure: processor.ratio(
                    Key(workload: amongMany, peer: .streams), to: Key(workload: alone, peer: .streams)),
                note: note),
            TargetRow(
                "B-IO5", "processor time of a request, 50 connections, adaptive ÷ never spinning",
                .atMost(1.05), stretch: .atMost(1), figure: ratio(Self.few, .source, .parked)),
        ]
    }
}

/// The clients of the servers, on their own thread.
final class PingLoad: @unchecked Sendable {
    // Safe because only the thread uses `load`, and the caller waits for the thread.
    private let load: OpaquePointer
    private let thread = WorkerThread()
    /// The number of open descriptors without the connections, which is valid after the first connections are open.
    private var otherDescriptors = 0

    /// The maximum number of connections, with both ends in this process, rounded down to hundreds.
    static var mostConnections: Int {
        let room = DescriptorLimit.raise() - DescriptorLimit.open - 128
        return room / 200 * 100
    }

    init(capacity: Int) throws {
        guard let load = bench_load_create(Int32(capacity)) else { throw Miscount(expected: 1, found: 0) }
        self.load = load
    }

    /// The number of the thread, for pinning.
    var number: ThreadNumber { thread.number }

    /// Opens connections, and waits until the server has accepted and served each connection.
    func connect(to server: any PingServer, _ count: Int) throws(Miscount) {
        let port = server.port
        try perform(count) { [self] in bench_load_connect(load, port, Int32(count)) }
        otherDescriptors = DescriptorLimit.open - 2 * count
    }

    /// Sends requests, and checks the answers.
    ///
    /// - Parameters:
    ///   - active: The number of connections over which the requests are spread.
    ///   - depth: The maximum number of requests under way on each connection.
    ///   - requests: The number of requests in all.
    /// - Returns: The nanoseconds until all requests were answered.
    /// - Throws: ``Miscount`` if an answer was lost or wrong.
    @discardableResult
    func run(_ active: Int, depth: Int, requests: Int) throws(Miscount) -> Double {
        let start = bench_now()
        try perform(requests) { [self] in
            bench_load_run(load, Int32(active), Int32(depth), Int64(requests))
        }
        return Double(bench_now() - start)
    }

    /// Closes the connections, and waits until the server has closed its ends, too.
    ///
    /// - Throws: ``Miscount`` if the server has not closed its ends after ten seconds.
    func disconnect() throws(Miscount) {
        try perform(0) { [self] in
            bench_load_disconnect(load)
            return true
        }
        let end = bench_now() + 10_000_000_000
        var open = DescriptorLimit.open
        while open > otherDescriptors, bench_now() < end {
            bench_sleep(200_000)
            open = DescriptorLimit.open
        }
        if open > otherDescriptors { throw Miscount(expected: otherDescriptors, found: open) }
    }

    /// Ends the thread, and frees the load.
    func end() {
        bench_load_destroy(load)
        thread.end()
    }

    private func perform(_ count: Int, _ step: @escaping @Sendable () -> Bool) throws(Miscount) {
        let succeeded = CallCounter()
        thread.runAndWait { if step() { succeeded.increment() } }
        if succeeded.count == 0 { throw Miscount(expected: count, found: -1) }
    }
}

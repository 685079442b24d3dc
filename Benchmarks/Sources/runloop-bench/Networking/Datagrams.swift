internal import CLoad
internal import CThreadControl

/// Measures the processor time that a receiver's thread spends on a datagram over UDP.
///
/// Read the ratios to bare `recvmmsg` and SwiftNIO first. The datagrams come from C on another thread, whose time does not count.
struct Datagrams: Measurement {
    private let sender = WorkerThread()
    private var receivers: [DatagramPeer: any DatagramReceiver] = [:]
    /// The processor time of a datagram, in nanoseconds.
    private var processor = RoundFigures<DatagramPeer>()
    /// The allocations of a datagram.
    private var allocations = RoundFigures<DatagramPeer>()
    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { for peer in DatagramPeer.allCases { receivers[peer] = try peer.start() } }
        for peer in DatagramPeer.allCases.turns(of: round) { try measure(peer, round, session) }
    }

    private mutating func measure(_ peer: DatagramPeer, _ round: Int, _ session: Session) throws {
        stage = "datagrams, \(peer.title)"
        guard let receiver = receivers[peer] else { return }
        let processors = session.machine.processors
        receiver.number.pin(to: [processors[0]])
        sender.number.pin(to: [processors[min(1, processors.count - 1)]])
        let bursts = session.isQuick ? 50 : 200
        let before = bench_thread_time(receiver.number)
        let few = try receiver.bursts.run(bursts, on: sender)
        let used = bench_thread_time(receiver.number) - before
        let datagrams = bursts * Int(bench_datagram_burst)
        if round >= 0 { return processor.add(Double(used) / Double(datagrams), of: peer) }
        // What a run allocates once is in both counts.
        let many = try receiver.bursts.run(2 * bursts, on: sender)
        allocations.add(Double(max(0, many - few)) / Double(datagrams), of: peer)
    }

    mutating func end(in session: Session) throws {
        for receiver in receivers.values { try receiver.stop() }
        receivers = [:]
        sender.end()
    }

    var remarks: [String] {
        [
            "Datagrams of 64 bytes over UDP on the loopback interface, in bursts of \(bench_datagram_burst), which wait in the "
                + "socket when the receiver begins. Each receiver takes up to \(bench_datagram_batch) with one call, with their "
                + "senders, and each datagram is checked."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "Datagrams received (ns of processor time a datagram)",
            columns: [
                .ranged("ns", "time", .nanoseconds), .ranged("÷ recvmmsg", "ratio", .ratio),
                .init("mallocs", "allocations", .perMessage),
            ])
        table.rows = DatagramPeer.allCases.map { peer in
            var row = Table.Row(name: peer.title)
            row.add(processor.spread(peer), as: "time")
            row.add(processor.ratio(peer, to: .bare), as: "ratio")
            row.add(allocations.spread(peer), as: "allocations")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-D1", "processor time of a datagram, DatagramSocket ÷ bare recvmmsg", .atMost(1.15),
                figure: processor.ratio(.socket, to: .bare)),
            TargetRow(
                "B-D1", "processor time of a datagram, DatagramSocket ÷ SwiftNIO", .atMost(0.6),
                figure: processor.ratio(.socket, to: .nio)),
            TargetRow(
                "B-D1", "mallocs a datagram, steady state", .atMost(0),
                figure: allocations.spread(.socket), isCount: true),
        ]
    }
}

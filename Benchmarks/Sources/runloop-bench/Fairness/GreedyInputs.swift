internal import Glibc
internal import Histogram
internal import RunLoops

/// Measures the timer of a loop whose peers, in other processes, are never out of bytes or messages.
///
/// Read the additional lateness with 1,000 peers first: many greedy peers should delay a timer no more than one does.
struct GreedyInputs: Measurement {
    private struct Key: Hashable {
        let input: GreedyInput
        /// The number of peers; 0 for the loop at rest, in the same round.
        let peers: Int
    }

    private let thread: RunLoopThread
    private let number: ThreadNumber
    /// The numbers of peers that are compared.
    private let sizes: [Int]
    private let note: String?
    private var files: SecureFiles?
    private var ninetyNinths = RoundFigures<Key>()
    private var delays: [Key: TimeHistogram] = [:]
    private var messages: [Key: Int] = [:]

    private(set) var stage = ""

    init() throws {
        thread = try RunLoopThread(name: "greedy peers")
        number = try thread.prepare(.park)
        // This process has one end of each connection, and of some inputs both.
        let room = (DescriptorLimit.raise() - DescriptorLimit.open - 128) / (GreedyInput.allCases.count + 1)
        sizes = [1, min(1_000, max(2, room))]
        note = sizes[1] < 1_000 ? "with \(sizes[1]) peers; \(DescriptorLimit.note)" : nil
    }

    mutating func measure(round: Int, in session: Session) throws {
        let processors = session.machine.processors
        // On one processor, the peers would compete with the loop, and delay the timer themselves. Connecting many peers takes
        // longer than measuring them.
        if processors.count < 2 || (session.isQuick ? round != 0 : round < 0 || round % 4 != 0) { return }
        number.pin(to: [processors[0]])
        let files = try self.files ?? SecureFiles()
        self.files = files
        let length = session.length(.milliseconds(500), quick: .milliseconds(100))
        for input in GreedyInput.allCases {
            stage = "\(input.rawValue), at rest"
            let rest = try TimerWatch(thread.runLoop, length: length, generator: nil)
            add(rest.delays, Key(input: input, peers: 0))
            for count in sizes(of: input) {
                stage = "\(input.rawValue), \(count) peers"
                // The thread of a service inherits this processor.
                ThreadNumber.current.pin(to: [processors[0]])
                let peers = try input.start(count, on: thread.runLoop, files)
                peers.process.number.pin(to: Array(processors.dropFirst()))
                let key = Key(input: input, peers: count)
                let busy = Result {
                    try peers.waitUntilBusy()
                    let before = peers.count
                    let loop = peers.watched ?? thread.runLoop
                    let watch = try TimerWatch(loop, length: length, generator: nil)
                    messages[key, default: 0] += peers.count - before
                    return watch
                }
                try peers.stop()
                add(try busy.get().delays, key)
            }
        }
    }

    private func sizes(of input: GreedyInput) -> [Int] { sizes.map { min($0, input.most) } }

    private mutating func add(_ found: [Int64], _ key: Key) {
        var round = TimeHistogram()
        for delay in found {
            // A late fire makes the next fires impossible. Their lateness is recorded here, too.
            round.recordCorrectedValue(UInt64(max(1, delay)), expectedInterval: 1_000_000)
        }
        ninetyNinths.add(Double(round.valueAtPercentile(99)), of: key)
        delays[key, default: TimeHistogram()].add(round)
    }

    mutating func end(in session: Session) throws {
        thread.stop()
        thread.join()
        try files?.remove()
    }

    var remarks: [String] {
        [
            "A timer of 1 ms on a loop whose peers always have more: connections of line feeds, TLS connections of records with "
                + "one byte, ports between processes, HTTP answers in chunks of one byte, messages of 16 posts to a hub, questions to an inspector, "
                + "and posts through a Redis server. The peers are in another process, on "
                + "another processor. Each line, record or chunk costs the loop a call of a handler, or a step of its library.",
            "The first row of each kind is the loop at rest. A missed fire counts as late.",
        ]
    }

    var tables: [Table] {
        if delays.isEmpty { return [] }
        var table = Table(
            title: "Lateness of a 1 ms timer (µs) beside greedy peers",
            columns: [
                .init("p50", "p50", .microseconds), .init("p90", "p90", .microseconds),
                .init("p99", "p99", .microseconds), .init("max", "max", .microseconds),
                .init("handled", "messages", .whole),
            ])
        for input in GreedyInput.allCases {
            for peers in [0] + sizes(of: input) {
                let key = Key(input: input, peers: peers)
                var row = Table.Row(
                    name: peers == 0
                        ? "\(input.rawValue), at rest"
                        : "\(input.rawValue), \(NumberFormat.grouped(peers)) \(peers == 1 ? "peer" : "peers")"
                )
                if let delays = delays[key] { row.figures = delays.percentiles }
                if let count = messages[key] { row.figures["messages"] = Double(count) }
                table.rows.append(row)
            }
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        GreedyInput.allCases.flatMap { input in
            sizes(of: input).map { peers in
                TargetRow(
                    "B-F1",
                    "\(input.rawValue), \(NumberFormat.grouped(peers)) greedy \(peers == 1 ? "peer" : "peers"): "
                        + "a 1 ms timer's p99 is later by so many ms", .atMost(1),
                    figure: ninetyNinths.difference(
                        Key(input: input, peers: peers), less: Key(input: input, peers: 0)
                    ) { $0 / 1e6 },
                    note: machine.twoProcessorsNote ?? (peers > 1 ? note : nil))
            }
        }
    }
}

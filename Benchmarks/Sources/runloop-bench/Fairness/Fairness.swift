internal import Histogram
internal import RunLoops

/// Measures the timer and the descriptor of a loop that always has messages to handle, and of the same loop at rest.
///
/// Read "passes without a read" first, a count that is 0 on every machine. Then read the additional lateness of the timer.
struct Fairness: Measurement {
    private let thread: RunLoopThread
    private let number: ThreadNumber
    private let generator: LoadGenerator
    private let clockReader = ClockReader()
    /// The 99th percentile of each round, in nanoseconds.
    private var ninetyNinths = RoundFigures<Key>()
    private var delays: [LoopCondition: TimeHistogram] = [:]
    private var totals: [Load: Totals] = [:]

    /// Each round under a load is compared with the round at rest that precedes it.
    private struct Key: Hashable {
        let load: Load
        let condition: LoopCondition
    }

    /// The sums of all rounds of a load.
    private struct Totals {
        var reads = 0
        var passesWithoutRead = 0
        var messages = 0
        var passes = 0
    }

    private(set) var stage = ""

    init() throws {
        thread = try RunLoopThread(name: "fair")
        number = try thread.prepare(.park)
        generator = try LoadGenerator(loop: thread.runLoop)
    }

    mutating func measure(round: Int, in session: Session) throws {
        let processors = session.machine.processors
        let others = processors.count > 1 ? Array(processors.dropFirst()) : processors
        number.pin(to: [processors[0]])
        clockReader.number.pin(to: [processors[0]])
        let length = session.length(.milliseconds(100), quick: .milliseconds(30))
        for load in Load.allCases {
            stage = load.rawValue
            let idle = try TimerWatch(thread.runLoop, length: length, generator: nil)
            generator.start(load, on: others)
            let busy = Result { try TimerWatch(thread.runLoop, length: length, generator: generator) }
            try generator.stop(load)
            let machine = clockReader.delays(length: length)
            let watch = try busy.get()
            totals[load, default: Totals()].passesWithoutRead += watch.passesWithoutRead
            // The first round is the warm-up, but the loop must read the descriptor in this round, too.
            if round < 0 { continue }
            add(watch, to: load)
            add(watch.delays, load, .busy(load))
            add(idle.delays, load, .rest)
            add(machine, load, .thread)
        }
    }

    private mutating func add(_ busy: TimerWatch, to load: Load) {
        totals[load, default: Totals()].reads += busy.reads
        totals[load, default: Totals()].messages += busy.messages
        totals[load, default: Totals()].passes += busy.passes
    }

    private mutating func add(_ found: [Int64], _ load: Load, _ condition: LoopCondition) {
        var round = TimeHistogram()
        for delay in found {
            // A late fire makes the next fires impossible. Their lateness is recorded here, too.
            round.recordCorrectedValue(UInt64(max(1, delay)), expectedInterval: 1_000_000)
        }
        ninetyNinths.add(
            Double(round.valueAtPercentile(99)), of: Key(load: load, condition: condition))
        delays[condition, default: TimeHistogram()].add(round)
    }

    var remarks: [String] {
        [
            "A timer of 1 ms on a loop that is at rest, and then never out of messages. Each message keeps the loop busy for "
                + "16 pauses. All messages are counted, and at every point of its grid the timer fires or counts a missed fire. A "
                + "missed fire counts as late.",
            "Any busy thread is late if others need its processor. The lateness of a thread that only reads the clock, pinned "
                + "to the same processor, is the share of the machine.",
            "While the loop is busy, it also has a descriptor that is always ready, whose handler should be called once a "
                + "pass. The loop parks: a loop that spins checks descriptors every few microseconds, and not in each pass.",
        ]
    }

    var charts: [Chart] { [chart] }

    var tables: [Table] {
        var table = Table(
            title: "Lateness of a 1 ms timer (µs), and reads of a ready descriptor",
            columns: [
                .init("p50", "p50", .microseconds), .init("p90", "p90", .microseconds),
                .init("p99", "p99", .microseconds), .init("max", "max", .microseconds),
                .init("passes", "passes", .whole), .init("messages a pass", "messages", .ratio),
                .init("reads", "reads", .whole), .init("passes without a read", "unread", .whole),
            ])
        table.rows = LoopCondition.all.map { condition in
            var row = Table.Row(name: condition.description)
            guard let delays = delays[condition] else { return row }
            row.figures = delays.percentiles
            if case .busy(let load) = condition, let totals = totals[load] {
                row.figures["passes"] = Double(totals.passes)
                row.figures["messages"] = Double(totals.messages) / Double(totals.passes)
                row.figures["reads"] = Double(totals.reads)
                row.figures["unread"] = Double(totals.passesWithoutRead)
            }
            return row
        }
        return [table]
    }

    private var chart: Chart {
        .distributions(
            title: "Lateness of a 1 ms timer of a busy loop",
            reading:
                "Further left is sooner, on a scale where each line is ten times the one before. ▲ marks the median and "
                + "│ the 99th percentile, which should stay under a millisecond.",
            series: LoopCondition.all.compactMap { condition in
                delays[condition].map {
                    $0.distribution(condition.name, condition == .thread ? .yardstick : .ours)
                }
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        let unread = totals.isEmpty ? nil : totals.values.reduce(0) { $0 + $1.passesWithoutRead }
        return Load.allCases.map { load in
            let what = "\(load.rawValue): a 1 ms timer's p99 is later by so many ms"
            // On one processor, the senders would compete with the loop, and delay the timer themselves.
            if load != .own, let note = machine.twoProcessorsNote {
                return TargetRow("B-F1", what, .atMost(1), figure: nil, note: note)
            }
            return TargetRow(
                "B-F1", what, .atMost(1),
                figure: ninetyNinths.difference(
                    Key(load: load, condition: .busy(load)), less: Key(load: load, condition: .rest)
                ) { $0 / 1e6 },
                note: ninetyNinths.spread(Key(load: load, condition: .thread)).map {
                    "a busy thread without a loop: \(NumberFormat.ratio.text($0.median / 1e6))"
                })
        } + [
            TargetRow(
                "B-F1", "passes of a busy loop that left a ready descriptor unread", .atMost(0),
                figure: unread.flatMap { Spread([Double($0)]) }, isCount: true)
        ]
    }
}

/// The kinds of work that keep a loop busy.
enum Load: String, CaseIterable {
    case perform = "blocks that other threads perform"
    case port = "messages that other threads send"
    case own = "blocks that perform themselves again"

    /// The short form for a chart.
    var name: String {
        switch self {
        case .perform: "perform from elsewhere"
        case .port: "port from elsewhere"
        case .own: "blocks, again and again"
        }
    }
}

/// The work of the loop while its timer is measured.
enum LoopCondition: Hashable {
    /// No other work.
    case rest
    /// A load that keeps the loop busy.
    case busy(Load)
    /// No loop, but a thread that reads the clock.
    case thread

    static let all: [LoopCondition] = [.thread, .rest] + Load.allCases.map { .busy($0) }

    /// The name in a table.
    var description: String {
        switch self {
        case .rest: "at rest"
        case .busy(let load): load.rawValue
        case .thread: "no loop: a thread that only reads the clock"
        }
    }

    /// The name in a chart.
    var name: String {
        switch self {
        case .rest: "at rest"
        case .busy(let load): load.name
        case .thread: "only reads the clock"
        }
    }
}

internal import Histogram
internal import RunLoops

/// Isolates what a timer and a descriptor see of a loop that is never out of messages, and of the same loop at rest.
///
/// Read "passes without a read" first: it is a count, and 0 on every machine. Then how much later the timer is.
struct Fairness: Part {
    private let thread: RunLoopThread
    private let number: ThreadNumber
    private let feeder: Feeder
    /// The 99th percentile of each round, in nanoseconds; nil stands for the loop at rest.
    private var ninetyNinths = RoundFigures<Key>()
    private var delays: [Load?: Histogram<UInt32>] = [:]
    private var totals: [Load: Totals] = [:]

    /// A round of the loop under a load is compared with one at rest right before.
    private struct Key: Hashable {
        let load: Load
        let isBusy: Bool
    }

    /// What all rounds of a load add up to.
    private struct Totals {
        var reads = 0
        var passesWithoutRead = 0
        var messages = 0
        var passes = 0
    }

    private(set) var stage = ""

    init() throws {
        thread = try RunLoopThread(name: "fair")
        number = try thread.runLoop.performAndWait {
            RunLoop.current.waitPolicy = .park
            return ThreadNumber.current
        }
        feeder = try Feeder(loop: thread.runLoop)
    }

    mutating func measure(round: Int, in session: Session) throws {
        let processors = session.machine.processors
        let others = processors.count > 1 ? Array(processors.dropFirst()) : processors
        number.pin(to: [processors[0]])
        let length = session.length(.milliseconds(100), quick: .milliseconds(30))
        for load in Load.allCases {
            stage = load.rawValue
            let idle = try FairnessWatch(thread.runLoop, length: length, feeder: nil)
            feeder.start(load, on: others)
            let busy = Result { try FairnessWatch(thread.runLoop, length: length, feeder: feeder) }
            try feeder.stop(load)
            add(try busy.get(), idle, load, isWarmUp: round < 0)
        }
    }

    private mutating func add(_ busy: FairnessWatch, _ idle: FairnessWatch, _ load: Load, isWarmUp: Bool) {
        totals[load, default: Totals()].passesWithoutRead += busy.passesWithoutRead
        if isWarmUp { return }
        totals[load, default: Totals()].reads += busy.reads
        totals[load, default: Totals()].messages += busy.messages
        totals[load, default: Totals()].passes += busy.passes
        for (watch, isBusy) in [(busy, true), (idle, false)] {
            var round = Self.histogram()
            for delay in watch.delays {
                // The fires that one late one has kept from being made were late as well.
                round.recordCorrectedValue(UInt64(max(1, delay)), expectedInterval: 1_000_000)
            }
            ninetyNinths.add(Double(round.valueAtPercentile(99)), of: Key(load: load, isBusy: isBusy))
            delays[isBusy ? load : nil, default: Self.histogram()].add(round)
        }
    }

    private static func histogram() -> Histogram<UInt32> {
        Histogram(highestTrackableValue: 100_000_000_000, numberOfSignificantValueDigits: .three)
    }

    var remarks: [String] {
        [
            "A timer of 1 ms on a loop that is at rest, and then never out of messages, each of which keeps it busy for 16 pauses; "
                + "all messages are counted, and every point of the timer's grid has fired or is counted as missed. "
                + "A fire that was missed counts as late.",
            "While the loop is busy it also has a descriptor that is always ready: its handler should be called once a "
                + "pass. It parks: one that spins looks at descriptors every few microseconds, and not in each pass.",
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
        table.rows = ([nil] + Load.allCases).map { load in
            var row = Table.Row(name: load?.rawValue ?? "at rest")
            guard let delays = delays[load] else { return row }
            for (key, percentile) in [("p50", 50.0), ("p90", 90), ("p99", 99), ("max", 100)] {
                row.figures[key] = Double(delays.valueAtPercentile(percentile))
            }
            if let load, let totals = totals[load] {
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
                "Further left is sooner, on a scale where each line is ten times the one before; ▲ marks the median and "
                + "│ the 99th percentile, which should stay under a millisecond.",
            series: ([nil] + Load.allCases).compactMap { load in
                delays[load].map { delays in
                    Chart.Distribution(
                        name: load?.name ?? "at rest", role: load == nil ? .yardstick : .ours,
                        median: Double(delays.valueAtPercentile(50)),
                        ninetyNinth: Double(delays.valueAtPercentile(99)), bins: delays.bins())
                }
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        let unread = totals.isEmpty ? nil : totals.values.reduce(0) { $0 + $1.passesWithoutRead }
        return Load.allCases.map { load in
            TargetRow(
                "B-F1", "\(load.rawValue): a 1 ms timer's p99 is later by so many ms", .atMost(1),
                figure: ninetyNinths.difference(
                    Key(load: load, isBusy: true), less: Key(load: load, isBusy: false)
                ) { $0 / 1e6 })
        } + [
            TargetRow(
                "B-F1", "passes of a busy loop that left a ready descriptor unread", .atMost(0),
                figure: unread.flatMap { Spread([Double($0)]) }, isCount: true)
        ]
    }
}

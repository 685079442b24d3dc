/// Measures notifications from one thread to an observer on the loop of another thread.
///
/// Read "÷ Foundation" of the redirected notification first.
struct Redirecting: Measurement {
    private let window: Int
    private let runner: ThroughputRunner
    private let subjects: [(subject: RedirectSubject, channel: any MessageChannel)]
    /// The messages a second.
    private var rates = RoundFigures<RedirectSubject>()
    private var allocations: [RedirectSubject: Double] = [:]

    private(set) var stage = ""

    /// Starts the consumers.
    ///
    /// - Parameter window: The maximum number of notifications under way, or zero for no limit.
    /// - Throws: The error of the system if it is out of threads or descriptors.
    init(window: Int) throws {
        self.window = window
        runner = ThroughputRunner(window: window)
        subjects = try RedirectSubject.allCases.map { [runner] in ($0, try $0.make(sink: runner.sink)) }
    }

    mutating func measure(round: Int, in session: Session) throws(ThroughputRunner.Failure) {
        for (subject, channel) in subjects.turns(of: round) {
            stage = subject.rawValue
            runner.place(channel, on: session.machine)
            let found = try runner.round(
                channel, producers: 1, length: session.length(.milliseconds(20), quick: .milliseconds(8)))
            if round >= 0 { rates.add(found.rate, of: subject) }
        }
    }

    /// Counts the allocations of a message.
    mutating func end(in session: Session) throws(ThroughputRunner.Failure) {
        for (subject, channel) in subjects {
            stage = "allocations, \(subject.rawValue)"
            runner.place(channel, on: session.machine)
            allocations[subject] =
                Spread(try runner.allocations(channel, stretches: 5, messages: 512))?.median
        }
    }

    var failures: [String] {
        // The list allocates once for each message by design. Any other figure means that the counter does not work.
        guard let count = allocations[.list], count != 1 else { return [] }
        return ["the allocation counter saw \(count) allocations a message of the list, which makes 1"]
    }

    var remarks: [String] {
        let window = window == 0 ? "without limit" : "at most \(window)"
        return [
            "Redirected: one producer and one consumer, each on a CPU of its own. Notifications under way: \(window)."
        ]
            + subjects.compactMap(\.channel.remark)
    }

    var charts: [Chart] { [chart] }

    var tables: [Table] { [table] }

    private var table: Table {
        var table = Table(
            title: "Drain: one producer to an observer on a loop (millions a second)",
            columns: [
                .ranged("M/s", "rate", .millions), .ranged("÷ Foundation", "ratio", .ratio),
                .init("÷ list", "listRatio", .ratio), .init("mallocs", "allocations", .perMessage),
            ])
        table.rows = RedirectSubject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            row.add(rates.spread(subject), as: "rate")
            row.add(rates.ratio(subject, to: .foundation), as: "ratio")
            row.add(rates.ratio(subject, to: .list), as: "listRatio")
            row.figures["allocations"] = allocations[subject]
            return row
        }
        return table
    }

    /// A bar chart of the rates.
    private var chart: Chart {
        .rates(
            "Notifications to an observer on a loop", of: "notifications from one producer",
            groups: RedirectSubject.allCases.map { subject in
                Chart.BarGroup(
                    name: subject.rawValue, role: subject.role,
                    bars: rates.spread(subject).map { [Chart.Bar(name: "1 producer", value: $0)] } ?? [])
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-Q3",
                "drain, redirected notification, one observer ÷ \(RedirectSubject.foundation.rawValue)",
                .atLeast(10), stretch: .atLeast(25), figure: rates.ratio(.redirected, to: .foundation))
        ]
    }
}

/// The ways to notify the loop of another thread that are compared.
enum RedirectSubject: String, CaseIterable {
    case list = "list (C, malloc per message)"
    case redirected = "RunLoops redirected notification"
    case perform = "RunLoops perform"
    case foundation = "Foundation perform + wake"
    case foundationQueue = "Foundation notification to a queue (†)"

    /// The relation to this package.
    var role: Chart.Role {
        switch self {
        case .list: .yardstick
        case .redirected, .perform: .ours
        case .foundation, .foundationQueue: .peer
        }
    }

    /// Starts the consumer of this subject.
    func make(sink: Sink) throws -> any MessageChannel {
        switch self {
        case .list: ListChannel(sink: sink)
        case .redirected: try RedirectedChannel(sink: sink)
        case .perform: try PerformChannel(sink: sink)
        case .foundation: FoundationChannel(sink: sink)
        case .foundationQueue: FoundationQueueChannel(sink: sink)
        }
    }
}

internal import RunLoops

/// Measures a stream of typed messages from one thread to another, sent one at a time.
///
/// Read "÷ loop" first: the cost of a receiver without a loop, and of a limit, compared with a loop and an unlimited port.
struct PortStreams: Measurement {
    private enum Subject: String, CaseIterable {
        case loop = "to a loop, unlimited"
        case boundedLoop = "to a loop, default limit"
        case set = "to a port set, unlimited"
        case boundedSet = "to a port set, default limit"
    }

    private let runner = ThroughputRunner(window: 4096)
    private let subjects: [(subject: Subject, channel: any MessageChannel)]
    /// The time of a message, in nanoseconds.
    private var times = RoundFigures<Subject>()
    private(set) var stage = ""

    /// Starts the consumers.
    init() throws {
        let sink = runner.sink
        subjects = try Subject.allCases.map { subject in
            switch subject {
            case .loop: (subject, try PortChannel(.init(queueLimit: .unlimited), sink: sink))
            case .boundedLoop: (subject, try PortChannel(.init(), sink: sink))
            case .set: (subject, PortSetChannel(.init(queueLimit: .unlimited), sink: sink))
            case .boundedSet: (subject, PortSetChannel(.init(), sink: sink))
            }
        }
    }

    mutating func measure(round: Int, in session: Session) throws {
        for (subject, channel) in subjects.turns(of: round) {
            stage = "streams, \(subject.rawValue)"
            runner.place(channel, on: session.machine)
            let found = try runner.round(
                channel, producers: 1, length: session.length(.milliseconds(20), quick: .milliseconds(8)))
            // The first round is the warm-up.
            if round >= 0 { times.add(1e9 / found.rate, of: subject) }
        }
    }

    var remarks: [String] {
        [
            "Streams: one producer, one consumer, messages of one word, at most 4,096 of them under way. All messages are "
                + "counted and their values added up. The family throughput compares loops with others."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "Messages sent one at a time (ns a message)",
            columns: [
                .ranged("ns", "time", .nanoseconds), .ranged("÷ loop", "ratio", .ratio),
            ])
        table.rows = Subject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            row.add(times.spread(subject), as: "time")
            row.add(times.ratio(subject, to: .loop), as: "ratio")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] { [] }
}

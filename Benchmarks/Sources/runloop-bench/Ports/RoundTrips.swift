internal import RunLoops

/// Measures a round trip between two threads that both sleep, with empty queues.
///
/// Read "÷ raw" on two CPUs first: raw is two parked wake-ups, the lower bound for a round trip.
struct RoundTrips: Measurement {
    private let timer = RoundTripTimer()
    private let subjects: [(subject: RoundTripSubject, player: any PingPong)]
    private var trips = TripFigures<RoundTripSubject>()
    private(set) var stage = ""

    /// Starts all threads.
    init() throws {
        let timer = timer
        subjects = try RoundTripSubject.allCases.map { (subject: $0, player: try $0.make(timer: timer)) }
    }

    mutating func measure(round: Int, in session: Session) throws {
        for placement in Placement.possible(on: session.machine) {
            for (subject, player) in subjects.turns(of: round) {
                if !subject.isPossible(in: placement) { continue }
                stage = "round trips, \(placement.rawValue), \(subject.rawValue)"
                player.place(placement, on: session.machine)
                let length = session.length(.milliseconds(20), quick: .milliseconds(8))
                let found = try timer.time(player, length: length)
                // The first round is the warm-up.
                if round >= 0 { trips.add(found, of: .init(placement: placement, subject: subject)) }
            }
        }
    }

    var remarks: [String] {
        [
            "Round trips: there and back in µs, the medians of the p50 and the p99 of the rounds. ÷ raw compares the p50 of "
                + "the same round, with the range of half of the rounds.",
            "The loops wait parked. A request from a loop's thread blocks that loop, and is checked for circular waits. A "
                + "request from a plain thread is not, because no other thread can wait for such a thread.",
            "A reply wakes a blocked thread through its gate and a task through its executor, and a message wakes a thread in "
                + "a port set through a gate. No descriptor is involved, so the figure may be less than raw.",
        ]
    }

    var tables: [Table] {
        trips.tables(
            "Round trips within the process", unit: "µs",
            columns: [
                .ranged("÷ raw", "ratio", .ratio)
            ]
        ) { row, key in row.add(trips.ratio(key.placement, key.subject, to: .raw), as: "ratio") }
    }

    var charts: [Chart] { [trips.chart("Round trips within the process")] }

    func targets(on machine: Machine) -> [TargetRow] {
        let asked: [RoundTripSubject] = [.asking, .awaiting]
        return asked.map { subject in
            TargetRow(
                "B-P1", "\(subject.rawValue), two CPUs, p50 ÷ two parked wake-ups", .atMost(2.5),
                stretch: .atMost(1.25), figure: trips.ratio(.twoProcessors, subject, to: .raw),
                note: machine.twoProcessorsNote)
        }
    }
}

/// The ways to send a message to another thread of the process and to receive an answer.
enum RoundTripSubject: String, TripSubject {
    case raw = "raw eventfd + epoll (C), twice"
    case messages = "a message each way, two loops"
    case sets = "a message each way, two port sets"
    case asking = "request, from a loop's thread"
    case askingPlain = "request, from a plain thread"
    case awaiting = "request, awaited by an actor on a loop"
    case awaitingPool = "request, awaited on the default executor"

    /// True if the subject can be measured at a placement.
    ///
    /// The threads of the default executor cannot be pinned.
    func isPossible(in placement: Placement) -> Bool { self != .awaitingPool || placement == .unpinned }

    /// The relation to this package.
    var role: Chart.Role { self == .raw ? .yardstick : .ours }

    /// Starts the threads of this subject.
    func make(timer: RoundTripTimer) throws -> any PingPong {
        switch self {
        case .raw: RawPingPong(timer: timer)
        case .messages: try RunLoopPingPong(policy: .park, usesPorts: true, timer: timer)
        case .sets: PortSetPingPong(timer: timer)
        case .asking: try RequestPingPong(from: .loop, timer: timer)
        case .askingPlain: try RequestPingPong(from: .plainThread, timer: timer)
        case .awaiting: try RequestPingPong(from: .actor, timer: timer)
        case .awaitingPool: try RequestPingPong(from: .pool, timer: timer)
        }
    }
}

/// A subject that is compared by its round trips.
protocol TripSubject: Hashable, CaseIterable, RawRepresentable<String> {
    var role: Chart.Role { get }
}

/// The round trips of several subjects at several placements: the median and the tail of each round, in nanoseconds.
struct TripFigures<Subject: TripSubject> {
    /// A subject at a placement.
    struct Key: Hashable {
        let placement: Placement
        let subject: Subject
    }

    private var medians = RoundFigures<Key>()
    private var tails = RoundFigures<Key>()

    /// Adds the figures of the next round, which must happen once in each round for each subject and placement.
    mutating func add(_ trips: RoundTripTimer.Trips, of key: Key) {
        medians.add(trips.median, of: key)
        tails.add(trips.tail, of: key)
    }

    /// The ratios of the medians of two subjects in the same rounds, or `nil` if there are none.
    func ratio(_ placement: Placement, _ subject: Subject, to yardstick: Subject) -> Spread? {
        medians.ratio(
            Key(placement: placement, subject: subject), to: Key(placement: placement, subject: yardstick))
    }

    /// Returns a table for each placement that was measured.
    ///
    /// - Parameters:
    ///   - title: The title, to which the placement and the unit are added.
    ///   - unit: The unit.
    ///   - columns: The columns after p50 and p99.
    ///   - fill: Fills the additional columns of a row.
    /// - Returns: The tables.
    func tables(
        _ title: String, unit: String, columns: [Table.Column], _ fill: (inout Table.Row, Key) -> Void
    ) -> [Table] {
        Placement.allCases.compactMap { placement in
            var table = Table(
                title: "\(title), \(placement.rawValue)\(unit.isEmpty ? "" : " (\(unit))")",
                columns: [
                    .init(unit.isEmpty ? "p50 µs" : "p50", "p50", .microseconds),
                    .init(unit.isEmpty ? "p99 µs" : "p99", "p99", .microseconds),
                ] + columns)
            table.rows = Subject.allCases.compactMap { subject in
                let key = Key(placement: placement, subject: subject)
                guard let median = medians.spread(key), let tail = tails.spread(key) else { return nil }
                var row = Table.Row(name: subject.rawValue)
                row.figures = ["p50": median.median, "p99": tail.median]
                fill(&row, key)
                return row
            }
            return table.rows.isEmpty ? nil : table
        }
    }

    /// A bar chart of the rates.
    func chart(_ title: String) -> Chart {
        .rates(
            title, of: "round trips",
            groups: Subject.allCases.map { subject in
                Chart.BarGroup(
                    name: subject.rawValue, role: subject.role,
                    bars: Placement.allCases.compactMap { placement in
                        medians.spread(Key(placement: placement, subject: subject)) { 1e9 / $0 }
                            .map { Chart.Bar(name: placement.rawValue, value: $0) }
                    })
            })
    }
}

extension RoundTripTimer {
    /// The median and the 99th percentile of the round trips of one exchange, in nanoseconds.
    struct Trips {
        let median: Double
        let tail: Double
    }

    /// An exchange that has failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Times the round trips of two threads or processes.
    func time(_ player: some PingPong, length: Duration) throws(Failure) -> Trips {
        prepare(length: length, gap: .zero)
        player.start()
        if let reason = wait() { throw Failure(description: reason) }
        let sorted = samples.map(Double.init).sorted()
        if sorted.isEmpty { throw Failure(description: "no round trip within the time") }
        return Trips(median: sorted[sorted.count / 2], tail: sorted[sorted.count * 99 / 100])
    }
}

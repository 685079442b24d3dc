/// Isolates a round trip between two threads: nothing is queued, and both sides sleep.
///
/// Read "÷ raw" on two CPUs first: raw is two parked wake-ups, which is the least that there and back can cost.
struct RoundTrips: Part {
    private struct Key: Hashable {
        let placement: Placement
        let subject: RoundTripSubject
    }

    private let rally = Rally()
    private let subjects: [(subject: RoundTripSubject, player: any PingPong)]
    /// The median round trip of each round, in nanoseconds.
    private var medians = RoundFigures<Key>()
    private var tails = RoundFigures<Key>()
    private(set) var stage = ""

    /// Starts all threads.
    init() throws {
        let rally = rally
        subjects = try RoundTripSubject.allCases.map { (subject: $0, player: try $0.make(rally: rally)) }
    }

    /// A rally that came to no good end.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    mutating func measure(round: Int, in session: Session) throws {
        for placement in Placement.possible(on: session.machine) {
            for offset in subjects.indices {
                // Each round begins with another subject, so that none always follows the same one.
                let (subject, player) = subjects[(offset + max(0, round)) % subjects.count]
                if !subject.isPossible(in: placement) { continue }
                stage = "round trips, \(placement.rawValue), \(subject.rawValue)"
                player.place(placement, on: session.machine)
                rally.prepare(
                    length: session.length(.milliseconds(20), quick: .milliseconds(8)), gap: .zero)
                player.start()
                if let reason = rally.wait() { throw Failure(description: reason) }
                // The first round warms up.
                if round < 0 { continue }
                let sorted = rally.samples.map(Double.init).sorted()
                if sorted.isEmpty { continue }
                let key = Key(placement: placement, subject: subject)
                medians.add(sorted[sorted.count / 2], of: key)
                tails.add(sorted[sorted.count * 99 / 100], of: key)
            }
        }
    }

    var remarks: [String] {
        [
            "Round trips: there and back, in µs: the median of the rounds' p50 and p99. ÷ raw compares the p50 of the "
                + "same round, and says the range of half of the rounds.",
            "The loops wait parked. A request from a loop's thread blocks that loop, and is looked at for circles; "
                + "one from a plain thread is not, because nobody can wait for such a thread.",
            "An answer wakes a blocked thread through its gate, a task through its executor, and a thread in a port "
                + "set through a gate: no descriptor, so it may be less than raw.",
        ]
    }

    var tables: [Table] {
        Placement.allCases.compactMap { placement in
            var table = Table(
                title: "Round trips within the process, \(placement.rawValue) (µs)",
                columns: [
                    .init("p50", "p50", .microseconds), .init("p99", "p99", .microseconds),
                    .init("÷ raw", "ratio", .ratio), .init("from", "ratioLow", .ratio),
                    .init("to", "ratioHigh", .ratio),
                ])
            table.rows = RoundTripSubject.allCases.compactMap { subject in
                let key = Key(placement: placement, subject: subject)
                guard let median = medians.spread(key), let tail = tails.spread(key) else { return nil }
                var row = Table.Row(name: subject.rawValue)
                row.figures = ["p50": median.median, "p99": tail.median]
                row.add(ratio(placement, subject), as: "ratio")
                return row
            }
            return table.rows.isEmpty ? nil : table
        }
    }

    var charts: [Chart] {
        let groups = RoundTripSubject.allCases.map { subject in
            Chart.BarGroup(
                name: subject.rawValue, role: subject.role,
                bars: Placement.allCases.compactMap { placement in
                    medians.spread(Key(placement: placement, subject: subject)) { 1e9 / $0 }
                        .map { Chart.Bar(name: placement.rawValue, value: $0) }
                })
        }
        return [
            .bars(
                title: "Round trips within the process",
                reading:
                    "Longer is faster: millions of round trips a second, the median of all rounds; the thin line spans "
                    + "half of the rounds.",
                unit: "M/s", groups: groups)
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        let asked: [RoundTripSubject] = [.asking, .awaiting]
        return asked.map { subject in
            TargetRow(
                "B-P1", "\(subject.rawValue), two CPUs, p50 ÷ two parked wake-ups", .atMost(2.5),
                stretch: .atMost(1.25), figure: ratio(.twoProcessors, subject),
                note: machine.processors.count > 1 ? nil : "needs two CPUs")
        }
    }

    private func ratio(_ placement: Placement, _ subject: RoundTripSubject) -> Spread? {
        medians.ratio(
            Key(placement: placement, subject: subject), to: Key(placement: placement, subject: .raw))
    }
}

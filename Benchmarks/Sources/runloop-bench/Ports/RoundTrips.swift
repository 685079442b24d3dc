/// Isolates a round trip between two threads: nothing is queued, and both sides sleep.
///
/// Read "÷ raw" on two CPUs first: raw is two parked wake-ups, which is the least that there and back can cost.
struct RoundTrips: Part {
    private let rally = Rally()
    private let subjects: [(subject: RoundTripSubject, player: any PingPong)]
    private var trips = TripFigures<RoundTripSubject>()
    private(set) var stage = ""

    /// Starts all threads.
    init() throws {
        let rally = rally
        subjects = try RoundTripSubject.allCases.map { (subject: $0, player: try $0.make(rally: rally)) }
    }

    mutating func measure(round: Int, in session: Session) throws {
        for placement in Placement.possible(on: session.machine) {
            for offset in subjects.indices {
                // Each round begins with another subject, so that none always follows the same one.
                let (subject, player) = subjects[(offset + max(0, round)) % subjects.count]
                if !subject.isPossible(in: placement) { continue }
                stage = "round trips, \(placement.rawValue), \(subject.rawValue)"
                player.place(placement, on: session.machine)
                let length = session.length(.milliseconds(20), quick: .milliseconds(8))
                let found = try rally.play(player, length: length)
                // The first round warms up.
                if round >= 0 { trips.add(found, of: .init(placement: placement, subject: subject)) }
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
        trips.tables(
            "Round trips within the process", unit: "µs",
            columns: [
                .init("÷ raw", "ratio", .ratio), .init("from", "ratioLow", .ratio),
                .init("to", "ratioHigh", .ratio),
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
                note: machine.processors.count > 1 ? nil : "needs two CPUs")
        }
    }
}

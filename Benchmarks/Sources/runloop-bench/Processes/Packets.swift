/// Isolates what goes from one process to another: there and back, and a stream one way, of 64 bytes each.
///
/// Read "÷ bare" of the round trip on two CPUs first.
struct Packets: Part {
    private struct Key: Hashable {
        let placement: Placement
        let subject: PacketSubject
    }

    private let rally = Rally()
    private let subjects: [(subject: PacketSubject, pair: any PacketPair)]
    /// The median round trip of each round, in nanoseconds.
    private var medians = RoundFigures<Key>()
    private var tails = RoundFigures<Key>()
    /// Nanoseconds a message, one way.
    private var streams = RoundFigures<Key>()
    private(set) var stage = ""

    /// Starts all processes.
    init() throws {
        let rally = rally
        subjects = try PacketSubject.allCases.map { (subject: $0, pair: try $0.make(rally: rally)) }
    }

    /// A measurement that came to no good end.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    mutating func measure(round: Int, in session: Session) throws {
        for placement in Placement.possible(on: session.machine) {
            for offset in subjects.indices {
                // Each round begins with another subject, so that none always follows the same one.
                let (subject, pair) = subjects[(offset + max(0, round)) % subjects.count]
                let key = Key(placement: placement, subject: subject)
                stage = "between processes, \(placement.rawValue), \(subject.rawValue)"
                pair.place(placement, on: session.machine)
                ThreadNumber.current.pin(to: placement.nearProcessors(on: session.machine))
                let (median, tail) = try trips(pair, in: session)
                let stream = try time(of: session.isQuick ? 2_000 : 10_000, through: pair)
                // The first round warms up.
                if round < 0 { continue }
                medians.add(median, of: key)
                tails.add(tail, of: key)
                streams.add(stream, of: key)
            }
        }
    }

    private func trips(_ pair: any PacketPair, in session: Session) throws -> (median: Double, tail: Double) {
        rally.prepare(length: session.length(.milliseconds(30), quick: .milliseconds(12)), gap: .zero)
        pair.start()
        if let reason = rally.wait() { throw Failure(description: reason) }
        let sorted = rally.samples.map(Double.init).sorted()
        if sorted.isEmpty { throw Failure(description: "no round trip in time") }
        return (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    }

    /// How long a message takes on average, in nanoseconds, if it is followed by others.
    private func time(of count: Int, through pair: any PacketPair) throws -> Double {
        // What came since the last answer is counted, and the rally's questions were answered one by one.
        let start = ContinuousClock.now
        let received = try pair.stream(count)
        let time = ContinuousClock.now - start
        if received != count + 1 {
            throw Failure(description: "\(count) were sent, \(received - 1) have come")
        }
        return Double(time.nanoseconds) / Double(count + 1)
    }

    var remarks: [String] {
        [
            "Between processes: 64 bytes each way, a head of 24 besides with ours. There and back in µs, the median of the "
                + "rounds' p50 and p99; one way in ns a message, in a stream that fills the connection.",
            "Bare is send and recv in C, blocking; with an epoll, both ends wait as what must be able to wait for something "
                + "else has to. Ours waits in the loop at one end, and in poll at the other.",
        ]
    }

    var tables: [Table] {
        Placement.allCases.compactMap { placement in
            var table = Table(
                title: "Between processes, \(placement.rawValue)",
                columns: [
                    .init("p50 µs", "p50", .microseconds), .init("p99 µs", "p99", .microseconds),
                    .init("÷ bare", "ratio", .ratio), .init("from", "ratioLow", .ratio),
                    .init("to", "ratioHigh", .ratio), .init("÷ epoll", "watchedRatio", .ratio),
                    .init("one way ns", "stream", .nanoseconds), .init("÷ bare", "streamRatio", .ratio),
                ])
            table.rows = PacketSubject.allCases.compactMap { subject in
                let key = Key(placement: placement, subject: subject)
                guard let median = medians.spread(key), let tail = tails.spread(key) else { return nil }
                var row = Table.Row(name: subject.rawValue)
                row.figures = ["p50": median.median, "p99": tail.median]
                row.add(ratio(placement, subject, to: .bare), as: "ratio")
                row.add(ratio(placement, subject, to: .watched), as: "watchedRatio")
                row.add(streams.spread(key), as: "stream")
                row.add(
                    streams.ratio(key, to: Key(placement: placement, subject: .bare)), as: "streamRatio")
                return row
            }
            return table.rows.isEmpty ? nil : table
        }
    }

    var charts: [Chart] {
        let groups = PacketSubject.allCases.map { subject in
            Chart.BarGroup(
                name: subject.rawValue, role: subject.role,
                bars: Placement.allCases.compactMap { placement in
                    medians.spread(Key(placement: placement, subject: subject)) { 1e9 / $0 }
                        .map { Chart.Bar(name: placement.rawValue, value: $0) }
                })
        }
        return [
            .bars(
                title: "Round trips between processes",
                reading:
                    "Longer is faster: millions of round trips a second, the median of all rounds; the thin line spans "
                    + "half of the rounds.",
                unit: "M/s", groups: groups)
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        let note = machine.processors.count > 1 ? nil : "needs two CPUs"
        return [
            TargetRow(
                "B-P2", "round trip between processes, two CPUs, p50 ÷ bare pair in C", .atMost(1.3),
                figure: ratio(.twoProcessors, .ports, to: .bare), note: note),
            TargetRow(
                "B-P2", "round trip between processes, one CPU, p50 ÷ bare pair in C", .atMost(1.3),
                figure: ratio(.oneProcessor, .ports, to: .bare)),
        ]
    }

    private func ratio(
        _ placement: Placement, _ subject: PacketSubject, to yardstick: PacketSubject
    ) -> Spread? {
        medians.ratio(
            Key(placement: placement, subject: subject), to: Key(placement: placement, subject: yardstick))
    }
}

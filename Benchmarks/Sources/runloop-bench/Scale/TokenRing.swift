/// Isolates handing a token from loop to loop, each on a thread of its own that sleeps meanwhile.
///
/// Read the quotient of 1,000 loops and 2 first. Part of it is the machine's: threads that slept long find their
/// memory far away.
struct TokenRing: Part {
    private static let sizes = [2, 10, 100, 1_000]

    private var ring: LoopRing?
    /// Nanoseconds a hop.
    private var times = RoundFigures<Int>()
    private var note: String?

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { ring = makeRing(on: session.machine) }
        guard let ring else { return }
        for size in Self.sizes where size <= ring.count {
            stage = "\(size) loops"
            let length = session.length(.milliseconds(40), quick: .milliseconds(20))
            let time = try ring.time(size: size, length: length)
            if round >= 0 { times.add(time, of: size) }
        }
    }

    /// As many loops as fit.
    private mutating func makeRing(on machine: Machine) -> LoopRing? {
        for size in Self.sizes.reversed() {
            if !DescriptorRoom.has(5 * size) {
                note = "this process may have \(DescriptorRoom.raise()) descriptors: see ulimit -n"
                continue
            }
            do { return try LoopRing(size, on: machine) } catch { note = "\(size) loops: \(error)" }
        }
        return nil
    }

    /// Ends the loops.
    mutating func end(in session: Session) throws {
        ring?.end()
        ring = nil
    }

    var remarks: [String] {
        [
            "Each hop is a port's message from one parked loop to the next, every other one on the other CPU. The token counts "
                + "its hops, and each loop those that it served: both are compared."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "A token that goes round loops (µs a hop)",
            columns: [
                .init("µs", "time", .microseconds), .init("from", "timeLow", .microseconds),
                .init("to", "timeHigh", .microseconds), .init("÷ 2 loops", "ratio", .ratio),
                .init("from", "ratioLow", .ratio), .init("to", "ratioHigh", .ratio),
            ])
        table.rows = Self.sizes.map { size in
            var row = Table.Row(name: "\(NumberFormat.grouped(size)) loops")
            row.add(times.spread(size), as: "time")
            row.add(times.ratio(size, to: 2), as: "ratio")
            return row
        }
        return [table]
    }

    var charts: [Chart] {
        [
            .growth(
                title: "A token that goes round loops",
                reading:
                    "Level means that a hop costs the same however many loops there are; both scales go up tenfold from "
                    + "line to line. Each point is the median of all rounds, the thin line spans half of them.",
                size: "loops",
                lines: [
                    Chart.Line(
                        name: "RunLoops, park", role: .ours,
                        points: Self.sizes.compactMap { size in
                            times.spread(size).map { Chart.Point(size: size, cost: $0) }
                        })
                ])
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-S4", "1,000 loops passing a token round, a hop ÷ 2 loops", .atMost(2),
                stretch: .atMost(1.2), figure: times.ratio(1_000, to: 2), note: note)
        ]
    }
}

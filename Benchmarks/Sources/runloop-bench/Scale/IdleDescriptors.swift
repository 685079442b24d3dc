/// Isolates a pass of a loop that has work and looks at the kernel, while it watches descriptors that are not ready.
///
/// Read the quotient of 10,000 and 10 first: what is not ready should cost nothing.
struct IdleDescriptors: Part {
    private static let sizes = [10, 100, 1_000, 10_000]

    private var crowds: [IdleCrowd] = []
    /// Nanoseconds a pass.
    private var times = RoundFigures<Int>()
    private var note: String?

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { try makeCrowds() }
        for index in crowds.indices {
            let crowd = crowds[(index + max(0, round)) % crowds.count]
            stage = "\(crowd.size) descriptors"
            crowd.number.pin(to: [session.machine.processors[0]])
            let time = try crowd.time(length: session.length(.milliseconds(10), quick: .milliseconds(4)))
            if round >= 0 { times.add(time, of: crowd.size) }
        }
    }

    /// As many as fit.
    private mutating func makeCrowds() throws {
        for size in Self.sizes {
            stage = "\(size) descriptors"
            if DescriptorRoom.has(size) {
                crowds.append(try IdleCrowd(size))
            } else {
                note = "this process may have \(DescriptorRoom.raise()) descriptors: see ulimit -n"
            }
        }
    }

    /// Makes all descriptors ready, and counts the calls of their handlers.
    mutating func end(in session: Session) throws {
        defer { crowds = [] }
        for crowd in crowds {
            stage = "\(crowd.size) descriptors, the end"
            try crowd.end()
        }
    }

    var remarks: [String] {
        [
            "Passes are made by a block that performs itself again. Each looks at the kernel once, which is counted; in "
                + "the end all descriptors are made ready, and each is reported once."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "A pass of a loop with idle descriptors (ns)",
            columns: [
                .init("ns", "time", .nanoseconds), .init("from", "timeLow", .nanoseconds),
                .init("to", "timeHigh", .nanoseconds), .init("÷ 10", "ratio", .ratio),
                .init("from", "ratioLow", .ratio), .init("to", "ratioHigh", .ratio),
            ])
        table.rows = Self.sizes.map { size in
            var row = Table.Row(name: "\(NumberFormat.grouped(size)) descriptors")
            row.add(times.spread(size), as: "time")
            row.add(times.ratio(size, to: 10), as: "ratio")
            return row
        }
        return [table]
    }

    var charts: [Chart] {
        [
            .growth(
                title: "A pass of a loop with idle descriptors",
                reading:
                    "Level means that descriptors that are not ready cost nothing; both scales go up tenfold from line to "
                    + "line. Each point is the median of all rounds, the thin line spans half of them.",
                size: "descriptors",
                lines: [
                    Chart.Line(
                        name: "RunLoops", role: .ours,
                        points: Self.sizes.compactMap { size in
                            times.spread(size).map { Chart.Point(size: size, cost: $0) }
                        })
                ])
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-S3", "cost of a pass with 10,000 idle descriptors ÷ 10", .atMost(1.2), stretch: .atMost(1),
                figure: times.ratio(10_000, to: 10), note: note)
        ]
    }
}

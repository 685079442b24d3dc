/// Isolates a pass of a loop that has work and looks at the kernel, while it watches descriptors that are not ready.
///
/// Read the quotient of 10,000 and 10 first: what is not ready should cost nothing.
struct IdleDescriptors: Part {
    private var crowds: [IdleCrowd] = []
    /// Nanoseconds a pass.
    private var times = SizeFigures([10, 100, 1_000, 10_000], "descriptors")
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
        for size in times.sizes {
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
        [times.table("A pass of a loop with idle descriptors", "ns", .nanoseconds, ratio: "÷ 10")]
    }

    var charts: [Chart] {
        [
            times.chart(
                "A pass of a loop with idle descriptors",
                level: "descriptors that are not ready cost nothing", "RunLoops")
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-S3", "cost of a pass with 10,000 idle descriptors ÷ 10", .atMost(1.2), stretch: .atMost(1),
                figure: times.ratio(of: 10_000), note: note)
        ]
    }
}

internal import RunLoops

/// Isolates the ticks that a loop misses because it shares two processors with eight busy processes: for a loop that sleeps,
/// and for one that may spin from each tick to the next.
///
/// Read "delivered" first: the kernel decides how many ticks a loop that sleeps gets, and a loop that spins should get as many.
struct SharedProcessors: Measurement {
    private enum Policy: String, CaseIterable {
        case park = "park"
        case spin = "spin(for: 2 ms)"

        var policy: RunLoop.WaitPolicy { self == .park ? .park : .spin(for: .milliseconds(2)) }
    }

    private static let processes = 8

    /// A loop for each policy, because a loop adapts to the machine.
    private let threads: [Policy: RunLoopThread]
    private let numbers: [Policy: ThreadNumber]
    private var delivered = RoundFigures<Policy>()

    private(set) var stage = ""

    init() throws {
        var threads: [Policy: RunLoopThread] = [:]
        var numbers: [Policy: ThreadNumber] = [:]
        for way in Policy.allCases {
            let thread = try RunLoopThread(name: "ticks")
            threads[way] = thread
            numbers[way] = try thread.prepare(way.policy)
        }
        (self.threads, self.numbers) = (threads, numbers)
    }

    mutating func measure(round: Int, in session: Session) throws {
        let processors = Array(session.machine.processors.prefix(2))
        if processors.count < 2 { return }
        for number in numbers.values { number.pin(to: processors) }
        let busy = try BusyProcesses(Self.processes, on: processors)
        defer { busy.stop() }
        let length = session.length(.seconds(2), quick: .milliseconds(500))
        for way in round % 2 == 0 ? Policy.allCases : Policy.allCases.reversed() {
            stage = way.rawValue
            guard let thread = threads[way] else { continue }
            let watch = try TimerWatch(thread.runLoop, length: length, generator: nil)
            // The first round is the warm-up: the loop that spins learns that it shares its processors.
            if round >= 0 { delivered.add(Double(watch.fires) / Double(watch.points), of: way) }
        }
    }

    var remarks: [String] {
        [
            "A timer of 1 ms on a loop that may use two processors, and shares them with eight busy processes: the share of "
                + "the points of its grid at which it has fired. Several missed points count as one fire."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "Ticks of 1 ms that are delivered beside eight busy processes on two processors",
            columns: [.init("delivered", "delivered", .ratio)])
        table.rows = Policy.allCases.map { way in
            var row = Table.Row(name: way.rawValue)
            row.add(delivered.spread(way), as: "delivered")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-F2", "1 ms ticks delivered with 8 busy processes on two CPUs, spin ÷ park", .atLeast(0.97),
                stretch: .atLeast(1), figure: delivered.ratio(.spin, to: .park),
                note: machine.twoProcessorsNote)
        ]
    }
}

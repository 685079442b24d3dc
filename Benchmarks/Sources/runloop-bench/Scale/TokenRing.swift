/// Isolates handing a token from loop to loop, each on a thread of its own that sleeps meanwhile.
///
/// Read the quotient of 1,000 loops and 2 first. Part of it is the machine's: threads that slept long find their
/// memory far away.
struct TokenRing: Part {
    private var ring: LoopRing?
    /// Nanoseconds a hop.
    private var times = SizeFigures([2, 10, 100, 1_000], "loops")
    private var note: String?

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { ring = makeRing(on: session.machine) }
        guard let ring else { return }
        for size in times.sizes where size <= ring.count {
            stage = "\(size) loops"
            let length = session.length(.milliseconds(40), quick: .milliseconds(20))
            let time = try ring.time(size: size, length: length)
            if round >= 0 { times.add(time, of: size) }
        }
    }

    /// As many loops as fit.
    private mutating func makeRing(on machine: Machine) -> LoopRing? {
        for size in times.sizes.reversed() {
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
        [times.table("A token that goes round loops", "µs", .microseconds, ratio: "÷ 2 loops")]
    }

    var charts: [Chart] {
        [
            times.chart(
                "A token that goes round loops", level: "a hop costs the same however many loops there are",
                "RunLoops, park")
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-S4", "1,000 loops passing a token round, a hop ÷ 2 loops", .atMost(2),
                stretch: .atMost(1.2), figure: times.ratio(of: 1_000), note: note)
        ]
    }
}

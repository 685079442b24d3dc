internal import CThreadControl
internal import RunLoops

/// Isolates a nested wait in a mode that is used for this wait only.
///
/// Read the quotient of the 10,000th and the 10th first: a mode that is no longer used should cost nothing.
struct PrivateModes: Measurement {
    /// Nanoseconds a wait.
    private var times = SizeFigures([10, 100, 1_000, 10_000], "modes before it")

    private(set) var stage = ""

    /// The number of waits before and after each size whose times are taken together.
    private static let margin = 9

    mutating func measure(round: Int, in session: Session) throws {
        stage = "private modes"
        // Each round uses a new loop, which knows none of the modes.
        let thread = try RunLoopThread(name: "private modes")
        defer {
            thread.stop()
            thread.join()
        }
        let processor = session.machine.processors[0]
        let waits = try thread.runLoop.performAndWait { [sizes = times.sizes] in
            ThreadNumber.current.pin(to: [processor])
            return try Self.waits(count: (sizes.last ?? 0) + Self.margin)
        }
        if round < 0 { return }
        for size in times.sizes {
            let near = waits[(size - Self.margin)..<(size + Self.margin)]
            times.add(Spread(Array(near))?.median ?? 0, of: size)
        }
    }

    /// Waits for a message `count` times, each time in another mode.
    ///
    /// - Returns: The nanoseconds of each wait.
    /// - Throws: ``Miscount`` if a message was lost.
    private static func waits(count: Int) throws -> [Double] {
        let modes = (0..<count).map { RunLoop.Mode("com.example.private-wait.\($0)") }
        var received = 0
        let port = Port<Int>()
        defer { port.invalidate() }
        func wait(in mode: RunLoop.Mode) throws {
            let loop = RunLoop.current
            loop.add(port, forMode: mode) { _ in received += 1 }
            try port.send(1)
            loop.run(mode: mode, before: .distantFuture)
            loop.remove(port, forMode: mode)
        }
        let warmUps = 1_000
        for _ in 0..<warmUps { try wait(in: RunLoop.Mode("com.example.private-wait")) }
        let times = try modes.map { mode in
            let start = bench_now()
            try wait(in: mode)
            return Double(bench_now() - start)
        }
        if received != count + warmUps { throw Miscount(expected: count + warmUps, found: received) }
        return times
    }

    var remarks: [String] {
        [
            "A wait adds a port to a mode of its own, runs the loop in it until a message has arrived, and removes the port. "
                + "Each figure is the median of \(2 * Self.margin) consecutive waits."
        ]
    }

    var tables: [Table] {
        [times.table("A wait in a private mode", "ns", .nanoseconds, ratio: "÷ 10")]
    }

    var charts: [Chart] {
        [times.chart("A wait in a private mode", level: "modes that are not used cost nothing", "RunLoops")]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-M1", "a private mode for each nested wait, the 10,000th ÷ the 10th", .atMost(1.2),
                stretch: .atMost(1), figure: times.ratio(of: 10_000))
        ]
    }
}

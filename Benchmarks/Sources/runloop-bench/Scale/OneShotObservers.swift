internal import CThreadControl
internal import RunLoops

/// Measures the removal of an observer, in a pass that calls many observers that do not repeat.
///
/// Read the ratio of 40,000 observers to 400 first. The ratio is large if the loop searches for the observer that it removes.
struct OneShotObservers: Measurement {
    /// The time for an observer, in nanoseconds.
    private var times = SizeFigures([400, 4_000, 40_000], "observers")
    private let thread: RunLoopThread

    private(set) var stage = ""

    init() throws {
        thread = try RunLoopThread(name: "leaving observers")
    }

    mutating func measure(round: Int, in session: Session) throws {
        let processor = session.machine.processors[0]
        let most = times.sizes.last ?? 0
        for size in times.sizes {
            stage = "\(size) observers"
            let time = try thread.runLoop.performAndWait {
                ThreadNumber.current.pin(to: [processor])
                return try Self.time(size: size, rounds: most / size)
            }
            if round >= 0 { times.add(time, of: size) }
        }
    }

    /// Runs the loop for single passes, each with `size` observers that do not repeat.
    ///
    /// - Returns: The nanoseconds for each observer.
    /// - Throws: ``Miscount`` if an observer was not called, or was called again.
    private static func time(size: Int, rounds: Int) throws(Miscount) -> Double {
        let loop = RunLoop.current
        let mode = RunLoop.Mode("com.example.observed")
        let port = Port<Int>()
        loop.add(port, forMode: mode) { _ in }
        defer { port.invalidate() }
        var calls = 0
        var time: Int64 = 0
        for _ in 0..<rounds {
            for _ in 0..<size {
                let observer = RunLoop.Observer(activities: .beforeTimers, repeats: false) { _, _ in
                    calls += 1
                }
                loop.add(observer, forMode: mode)
            }
            let start = bench_now()
            loop.run(in: mode, until: .distantPast)
            time += bench_now() - start
        }
        if calls != size * rounds { throw Miscount(expected: size * rounds, found: calls) }
        return Double(time) / Double(calls)
    }

    mutating func end(in session: Session) {
        thread.stop()
        thread.join()
    }

    var tables: [Table] {
        [times.table("An observer that is called once and leaves", "ns", .nanoseconds, ratio: "÷ 400")]
    }

    var charts: [Chart] {
        [
            times.chart(
                "An observer that is called once and leaves",
                level: "an observer costs the same among many", "RunLoops")
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-M2", "a pass that removes 40,000 observers ÷ 400, for each", .atMost(2),
                stretch: .atMost(1.2), figure: times.ratio(of: 40_000))
        ]
    }
}

internal import CThreadControl

/// The figures of all workloads in all rounds.
struct Hops {
    /// The nanoseconds and the allocations of a hop or task.
    private var times = RoundFigures<HopWorkload.Key>()
    private var allocations = RoundFigures<HopWorkload.Key>()

    mutating func add(time: Double, of key: HopWorkload.Key) { times.add(time, of: key) }

    mutating func add(allocations count: Double, of key: HopWorkload.Key) { allocations.add(count, of: key) }

    /// Returns the nanoseconds of a hop or task: the median of chunks, which hides interruptions of a few chunks.
    static func time(of workload: HopWorkload, length: Duration) async -> Result<Double, Miscount> {
        let before = await workload.visits()
        var steps = 0
        var chunk = 16
        var chunks: [Double] = []
        var now = bench_now()
        let end = now + length.nanoseconds
        repeat {
            let start = now
            await workload.run(chunk)
            now = bench_now()
            steps += chunk
            chunks.append(Double(now - start) / Double(chunk * workload.key.path.unitsPerStep))
            // Grows the chunk until the cost of the clock, and of the hop to the first actor, is negligible.
            if now - start < 100_000 { chunk *= 2 }
        } while now < end
        return await check(workload, steps, since: before).map {
            Spread(chunks.suffix(max(1, chunks.count - 8)))?.median ?? 0
        }
    }

    /// Returns the mallocs of a hop or task.
    ///
    /// The result is the difference between a long and a short run, because both runs start and end at the same cost. Each count is
    /// the lowest of several attempts, because other threads can allocate during an attempt.
    static func allocations(of workload: HopWorkload) async -> Result<Double, Miscount> {
        let steps = 500
        let attempts = 16
        let before = await workload.visits()
        var (short, long) = (Int.max, Int.max)
        for _ in 0..<attempts {
            short = min(short, await allocations(of: workload, steps: steps))
            long = min(long, await allocations(of: workload, steps: 2 * steps))
        }
        return await check(workload, 3 * attempts * steps, since: before).map {
            Double(long - short) / Double(steps * workload.key.path.unitsPerStep)
        }
    }

    private static func check(_ workload: HopWorkload, _ steps: Int, since before: Int) async -> Result<
        Void, Miscount
    > {
        let found = await workload.visits() - before
        return found == 2 * steps ? .success(()) : .failure(Miscount(expected: 2 * steps, found: found))
    }

    private static func allocations(of workload: HopWorkload, steps: Int) async -> Int {
        let count = AllocationCount()
        await workload.run(steps)
        return count.stop()
    }

    /// Unpins the threads of the default executor, in case a pinned thread has started them.
    static func freeDefaultThreads(_ processors: [Int32]) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 * processors.count { group.addTask { ThreadNumber.current.pin(to: processors) } }
        }
    }

    static let remarks = [
        "A hop is half of a call of an actor's method that adds one to a number: there, or back. All calls are counted.",
        "Loops are pinned, the two of a pair to two CPUs. None are pinned if the default executor takes part, because its "
            + "threads cannot be pinned.",
        "Mallocs are those of all threads. A hop to a loop needs none. A hop to the default executor's threads needs those "
            + "of the runtime, and so does a new task.",
        "The default executor has no loop to wake: a free actor runs on the thread that calls it.",
    ]

    /// One table for each path.
    var tables: [Table] {
        HopPath.allCases.map { path in
            var table = Table(
                title: "A task \(path.rawValue) (ns a \(path.unit))",
                columns: [
                    .ranged("ns", "time", .nanoseconds), .ranged("÷ SwiftNIO", "ratio", .ratio),
                    .init("mallocs", "allocations", .perMessage),
                ])
            table.rows = path.subjects.map { subject in
                let key = HopWorkload.Key(path: path, subject: subject)
                var row = Table.Row(name: subject.rawValue)
                row.add(times.spread(key), as: "time")
                row.add(ratio(path, subject), as: "ratio")
                row.figures["allocations"] = allocations.spread(key)?.median
                return row
            }
            return table
        }
    }

    /// One bar chart for each path, with the hops a second of its subjects.
    var charts: [Chart] {
        HopPath.allCases.filter { $0 != .start }.map { path in
            .rates(
                "A task \(path.rawValue)", of: "hops",
                groups: path.subjects.compactMap { subject in
                    times.spread(HopWorkload.Key(path: path, subject: subject)) { 1e9 / $0 }.map {
                        Chart.BarGroup(
                            name: subject.rawValue, role: subject.role,
                            bars: [Chart.Bar(name: "1 task", value: $0)])
                    }
                })
        }
    }

    var targets: [TargetRow] {
        [
            TargetRow(
                "B-E1", "mallocs a hop, actors of one loop", .atMost(0),
                figure: allocations.spread(HopWorkload.Key(path: .sameExecutor, subject: .runLoops)),
                isCount: true),
            TargetRow(
                "B-E2", "mallocs a hop, actors of two loops", .atMost(0),
                figure: allocations.spread(HopWorkload.Key(path: .twoExecutors, subject: .runLoops)),
                isCount: true),
            TargetRow(
                "B-E3", "hop between actors of two loops, parked ÷ SwiftNIO", .atMost(1.1),
                stretch: .below(1),
                figure: ratio(.twoExecutors, .parked)),
            TargetRow(
                "B-E4", "hop between actors of one loop ÷ default executor", .below(1),
                figure: times.ratio(
                    HopWorkload.Key(path: .sameExecutor, subject: .runLoops),
                    to: HopWorkload.Key(path: .sameExecutor, subject: .standard))),
        ]
    }

    private func ratio(_ path: HopPath, _ subject: HopSubject) -> Spread? {
        times.ratio(
            HopWorkload.Key(path: path, subject: subject), to: HopWorkload.Key(path: path, subject: .nio))
    }
}

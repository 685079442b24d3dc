internal import ArgumentParser

/// Measures wake-ups: the time from the send on one thread to the handler on the other, with empty queues.
///
/// Read the ratio to raw of "RunLoops, park, port" on two processors first. Subjects take turns in short rounds of one process,
/// and each is compared with raw in the same round.
struct LatencyFamily: Family {
    static let name = "latency"
    static let summary = "One-way wake-up latency: half a ping-pong between two threads."

    @Option(
        help: "The least time between two pings in µs. With 0, each ping follows the last answer at once.")
    var gap = 0

    func validate() throws {
        if gap < 0 { throw ValidationError("--gap must not be negative") }
    }

    func measure(in session: Session) throws -> Chapter {
        let timer = RoundTripTimer()
        let subjects = try PingPongSubject.allCases.map { (subject: $0, player: try $0.make(timer: timer)) }
        var chapter = Chapter(name: Self.name)
        var results: [Placement: [PingPongSubject: LatencyResult]] = [:]
        for placement in Placement.possible(on: session.machine) {
            session.progress.begin("latency, \(placement.rawValue)")
            var found: [PingPongSubject: LatencyResult] = [:]
            for round in 0..<session.rounds {
                session.progress.step(round, of: session.rounds)
                for (subject, player) in subjects.turns(of: round) {
                    if !subject.isPossible(in: placement) { continue }
                    player.place(placement, on: session.machine)
                    timer.prepare(
                        length: session.length(.milliseconds(40), quick: .milliseconds(15)),
                        gap: .microseconds(gap))
                    var failure: String?
                    let hits = player.spinHits
                    let usage = ProcessUsage.of {
                        player.start()
                        failure = timer.wait()
                    }
                    if let failure {
                        chapter.failures.append(
                            "latency, \(placement.rawValue), \(subject.rawValue): \(failure)")
                        return chapter
                    }
                    found[subject, default: LatencyResult(subject: subject)]
                        .add(
                            timer.samples, gap: .microseconds(gap), usage: usage,
                            spinHits: hits.flatMap { before in player.spinHits.map { $0 - before } })
                }
            }
            chapter.add(found, in: placement)
            results[placement] = found
        }
        chapter.remarks = remarks + subjects.compactMap(\.player.remark)
        let targets = LatencyTargets(results: results)
        chapter.targets = targets.rows
        chapter.comparisons = targets.comparisons
        return chapter
    }

    private var remarks: [String] {
        [
            "One way is half a round trip, in µs. ÷ raw compares the p50 of the same round: the median of the rounds, and "
                + "the range of half of them. Percentiles are of half round trips.",
            "CPUs is processor time over wall time, the price of the speed. Switches are context switches a hop. Hits are "
                + "spins a hop that found work before the loop would have slept.",
            "Foundation's perform does not wake a sleeping loop on Linux. So it is measured with the best public means, "
                + "CFRunLoopWakeUp from `import CoreFoundation`.",
            "All threads of raw, RunLoops, Foundation and SwiftNIO are pinned.",
        ]
            + (gap > 0
                ? ["Paced: \(gap) µs between pings, corrected for pings that could not be sent in time."]
                : [])
    }
}

extension Chapter {
    /// Adds the table and the chart of one placement.
    fileprivate mutating func add(_ found: [PingPongSubject: LatencyResult], in placement: Placement) {
        let results = PingPongSubject.allCases.compactMap { found[$0] }
        var table = Table(
            title: "One-way wake-up, \(placement.rawValue) (µs)",
            columns: [
                .init("p50", "p50", .microseconds), .init("p90", "p90", .microseconds),
                .init("p99", "p99", .microseconds), .init("p99.9", "p99.9", .microseconds),
                .init("max", "max", .microseconds), .ranged("÷ raw", "ratio", .ratio),
                .init("CPUs", "processorsBusy", .ratio), .init("CPU s", "processorSeconds", .ratio),
                .init("switches", "contextSwitchesPerHop", .ratio), .init("hits", "spinHitsPerHop", .ratio),
            ])
        table.rows = results.map { $0.row(yardstick: found[.raw]) }
        tables.append(table)
        charts.append(
            .distributions(
                title: "Wake-up latency, \(placement.rawValue)",
                reading:
                    "Further left is faster, on a scale where each line is ten times the one before. The height is "
                    + "the share of wake-ups, ▲ marks the median and │ the 99th percentile.",
                series: results.map { $0.distribution() }))
    }
}

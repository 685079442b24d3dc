internal import Histogram

/// Isolates the time from a timer's date to its handler, on a thread that sleeps until then.
///
/// Read "÷ raw" of "RunLoops, park" first: it is what the loop adds to the kernel. No timer of ours may be early.
struct TimerLateness: Part {
    private let clocks: [(subject: AlarmSubject, clock: any AlarmClock)]
    /// How late, in nanoseconds: the median of each round, and all.
    private var medians = RoundFigures<AlarmSubject>()
    private var delays: [AlarmSubject: Histogram<UInt32>] = [:]
    private var early: [AlarmSubject: Int] = [:]

    private(set) var stage = ""

    init() throws { clocks = try AlarmSubject.allCases.map { ($0, try $0.make()) } }

    mutating func measure(round: Int, in session: Session) throws(Miscount) {
        for index in clocks.indices {
            let (subject, clock) = clocks[(index + max(0, round)) % clocks.count]
            stage = subject.rawValue
            for thread in clock.threads { thread.pin(to: [session.machine.processors[0]]) }
            let series = AlarmSeries(length: session.length(.milliseconds(40), quick: .milliseconds(20)))
            clock.start(series)
            let found = try series.wait()
            // The first round warms up; but early is early.
            early[subject, default: 0] += found.count { $0 < 0 }
            if round < 0 { continue }
            if let median = Spread(found.map(Double.init))?.median { medians.add(median, of: subject) }
            for delay in found {
                delays[subject, default: Self.histogram()].record(UInt64(max(1, delay)))
            }
        }
    }

    private static func histogram() -> Histogram<UInt32> {
        Histogram(highestTrackableValue: 100_000_000_000, numberOfSignificantValueDigits: .three)
    }

    var remarks: [String] {
        [
            "Lateness is from a timer's date to its handler; each is asked for by the handler of the one before, for "
                + "0.3 to 1.6 ms later. All that were asked for are counted.",
            "† Dispatch's threads are not pinned: it chooses them. All others are.",
        ]
    }

    var charts: [Chart] { [chart] }

    var tables: [Table] {
        var table = Table(
            title: "Lateness of a timer (µs)",
            columns: [
                .init("p50", "p50", .microseconds), .init("p90", "p90", .microseconds),
                .init("p99", "p99", .microseconds), .init("max", "max", .microseconds),
                .init("÷ raw", "ratio", .ratio), .init("from", "ratioLow", .ratio),
                .init("to", "ratioHigh", .ratio), .init("fires", "fires", .whole),
                .init("early", "early", .whole),
            ])
        table.rows = AlarmSubject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            guard let delays = delays[subject] else { return row }
            for (key, percentile) in [("p50", 50.0), ("p90", 90), ("p99", 99), ("max", 100)] {
                row.figures[key] = Double(delays.valueAtPercentile(percentile))
            }
            row.figures["fires"] = Double(delays.totalCount)
            row.figures["early"] = Double(early[subject] ?? 0)
            row.add(medians.ratio(subject, to: .raw), as: "ratio")
            return row
        }
        return [table]
    }

    private var chart: Chart {
        .distributions(
            title: "Lateness of timers",
            reading:
                "Further left is sooner, on a scale where each line is ten times the one before; the height is the "
                + "share of timers, ▲ marks the median and │ the 99th percentile.",
            series: AlarmSubject.allCases.compactMap { subject in
                delays[subject].map { delays in
                    Chart.Distribution(
                        name: subject.rawValue, role: subject.role,
                        median: Double(delays.valueAtPercentile(50)),
                        ninetyNinth: Double(delays.valueAtPercentile(99)), bins: delays.bins())
                }
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        let ours: [AlarmSubject] = [.parked, .adaptive]
        let early = ours.compactMap { self.early[$0] }
        return [
            TargetRow(
                "B-T2", "lateness of a timer, parked, p50 ÷ raw", .atMost(1.2), stretch: .atMost(1.05),
                figure: medians.ratio(.parked, to: .raw)),
            TargetRow(
                "B-T2", "timers that fired early", .atMost(0),
                figure: early.isEmpty ? nil : Spread([Double(early.reduce(0, +))]), isCount: true),
        ]
    }
}

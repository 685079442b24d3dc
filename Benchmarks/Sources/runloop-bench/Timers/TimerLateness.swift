internal import Dispatch
internal import Histogram
internal import RunLoops

/// Measures the lateness of a timer: the time from its date to its handler, on a thread that sleeps until then.
///
/// Read "÷ raw" of "RunLoops, park" first, which is the lateness that the loop adds to the kernel's lateness. No timer of this
/// package is allowed to be early.
struct TimerLateness: Measurement {
    private let timers: [(subject: OneShotSubject, timer: any OneShotTimer)]
    /// The lateness in nanoseconds: the median of each round, and all samples.
    private var medians = RoundFigures<OneShotSubject>()
    private var delays: [OneShotSubject: TimeHistogram] = [:]
    private var early: [OneShotSubject: Int] = [:]

    private(set) var stage = ""

    init() throws { timers = try OneShotSubject.allCases.map { ($0, try $0.make()) } }

    mutating func measure(round: Int, in session: Session) throws(Miscount) {
        for (subject, timer) in timers.turns(of: round) {
            stage = subject.rawValue
            for thread in timer.threads { thread.pin(to: [session.machine.processors[0]]) }
            let series = TimerSeries(length: session.length(.milliseconds(40), quick: .milliseconds(20)))
            timer.start(series)
            let found = try series.wait()
            // The first round is the warm-up, but a timer must not be early in this round, either.
            early[subject, default: 0] += found.count { $0 < 0 }
            if round < 0 { continue }
            if let median = Spread(found.map(Double.init))?.median { medians.add(median, of: subject) }
            for delay in found {
                delays[subject, default: TimeHistogram()].record(UInt64(max(1, delay)))
            }
        }
    }

    var remarks: [String] {
        [
            "Lateness is the time from the date of a timer to its handler. Each handler sets the next timer, for 0.3 to "
                + "1.6 ms later. All timers that are set are counted.",
            "† Dispatch chooses its threads, which are not pinned. All others are.",
        ]
    }

    var charts: [Chart] { [chart] }

    var tables: [Table] {
        var table = Table(
            title: "Lateness of a timer (µs)",
            columns: [
                .init("p50", "p50", .microseconds), .init("p90", "p90", .microseconds),
                .init("p99", "p99", .microseconds), .init("max", "max", .microseconds),
                .ranged("÷ raw", "ratio", .ratio), .init("fires", "fires", .whole),
                .init("early", "early", .whole),
            ])
        table.rows = OneShotSubject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            guard let delays = delays[subject] else { return row }
            row.figures = delays.percentiles
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
                "Further left is sooner, on a scale where each line is ten times the one before. The height is the share "
                + "of timers, ▲ marks the median and │ the 99th percentile.",
            series: OneShotSubject.allCases.compactMap { subject in
                delays[subject].map { $0.distribution(subject.rawValue, subject.role) }
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        let ours: [OneShotSubject] = [.parked, .adaptive]
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

/// A timer that fires once, on a thread that does nothing else.
protocol OneShotTimer: AnyObject {
    /// The threads that can be pinned.
    var threads: [ThreadNumber] { get }

    /// Starts a series, which reports its own end.
    func start(_ series: TimerSeries)
}

/// The timers that are compared.
enum OneShotSubject: String, CaseIterable {
    case raw = "raw timerfd + epoll (C)"
    case parked = "RunLoops, park"
    case adaptive = "RunLoops, adaptive"
    case foundation = "Foundation Timer"
    case dispatch = "Dispatch timer source (†)"
    case nio = "SwiftNIO scheduleTask"

    /// The relation to this package.
    var role: Chart.Role {
        switch self {
        case .raw: .yardstick
        case .parked, .adaptive: .ours
        case .foundation, .dispatch, .nio: .peer
        }
    }

    func make() throws -> any OneShotTimer {
        switch self {
        case .raw: RawOneShotTimer()
        case .parked: try RunLoopOneShotTimer(.park)
        case .adaptive: try RunLoopOneShotTimer(.adaptive)
        case .foundation: FoundationOneShotTimer()
        case .dispatch: DispatchOneShotTimer()
        case .nio: NIOOneShotTimer()
        }
    }
}

/// A series of timers, each of which is set when the previous timer has fired, and their lateness.
final class TimerSeries: @unchecked Sendable {
    // Safe because only the thread on which the timers fire uses the mutable state until that thread signals `isOver`.
    private var delays: [Int64] = []
    private var asked = 0
    private var elapsed: Int64 = 0
    private let length: Int64
    private let isOver = DispatchSemaphore(value: 0)

    /// Makes a series that ends when the times of its timers add up to `length`.
    init(length: Duration) {
        self.length = length.nanoseconds
        delays.reserveCapacity(Int(self.length / Self.shortest) + 1)
    }

    private static let shortest: Int64 = 300_000

    /// The nanoseconds from now to the next fire.
    ///
    /// The times vary, so that the series is never in step with other work.
    func next() -> Int64 {
        let time = Self.shortest + Int64(asked * 37 % 64) * 20_000
        asked += 1
        elapsed += time
        return time
    }

    /// Records the fire of a timer.
    ///
    /// - Parameter delay: The lateness in nanoseconds, which is negative if the timer was early.
    /// - Returns: True if the caller must set another timer.
    func fired(late delay: Int64) -> Bool {
        delays.append(delay)
        if elapsed < length { return true }
        isOver.signal()
        return false
    }

    /// Waits for the end of the series, and returns the lateness of each timer.
    ///
    /// - Throws: ``Miscount`` if more or fewer timers fired than were set, or if the series has not ended after two minutes.
    func wait() throws(Miscount) -> [Int64] {
        try isOver.waitForEnd()
        try Miscount.check(expected: asked, found: delays.count)
        return delays
    }
}

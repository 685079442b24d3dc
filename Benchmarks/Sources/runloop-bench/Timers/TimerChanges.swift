/// Measures adding a timer and cancelling one, while ten to a hundred thousand others wait.
///
/// Read the ratio of "RunLoops Timer, added and cancelled" first. The ratio is large if the loop searches its timers.
struct TimerChanges: Measurement {
    /// The numbers of waiting timers.
    private static let sizes = [10, 1_000, 10_000, 100_000]
    /// The two numbers that are compared.
    private static let (few, many) = (1_000, 100_000)

    /// The changes that are timed.
    private enum Change: String, CaseIterable {
        case addAndCancel = "added and cancelled"
        case replace = "any of those that wait cancelled, another added"
    }

    private struct Key: Hashable {
        let subject: TimerSubject
        let change: Change
        let pending: Int
    }

    private let holders: [(subject: TimerSubject, pending: Int, holder: any PendingTimers)]
    /// The number of changes that are timed in a round.
    private let count: Int
    /// The time of adding one timer and cancelling one, in nanoseconds.
    private var times = RoundFigures<Key>()

    private(set) var stage = ""

    init(in session: Session) {
        count = session.isQuick ? 512 : 2048
        holders = Self.sizes.flatMap { pending in
            TimerSubject.allCases.map { ($0, pending, $0.make(pending: pending)) }
        }
        for (_, _, holder) in holders { holder.onThread { holder.fill() } }
    }

    mutating func measure(round: Int, in session: Session) throws(Miscount) {
        for (subject, pending, holder) in holders.turns(of: round) {
            holder.number.pin(to: [session.machine.processors[0]])
            for change in Change.allCases {
                stage = "\(subject.rawValue), \(pending) waiting, \(change.rawValue)"
                let time = try onThread(of: holder) { [count] () throws(Miscount) in
                    let time = Self.time(change, in: holder, pending: pending, count: count)
                    try holder.fireSome(16)
                    return time
                }
                if round >= 0 { times.add(time, of: Key(subject: subject, change: change, pending: pending)) }
            }
        }
    }

    /// Makes all waiting timers fire, and counts the fires.
    mutating func end(in session: Session) throws(Miscount) {
        for (subject, pending, holder) in holders {
            stage = "\(subject.rawValue), \(pending) waiting, the end"
            _ = try onThread(of: holder) { () throws(Miscount) in
                try holder.fireAll()
                return 0
            }
        }
    }

    private func onThread(
        of holder: any PendingTimers, _ body: @escaping @Sendable () throws(Miscount) -> Double
    ) throws(Miscount) -> Double {
        try runloop_bench.measure(on: { holder.onThread($0) }, body)
    }

    /// Returns the nanoseconds of a change, over `count` changes or as many as fit into three milliseconds.
    private static func time(_ change: Change, in holder: any PendingTimers, pending: Int, count: Int)
        -> Double
    {
        var scatter = ScatteredIndices(count: pending, in: pending)
        let batch = 8
        return timeEach(of: count, inBatchesOf: batch) {
            switch change {
            case .addAndCancel: holder.addAndCancel(batch, &scatter)
            case .replace: holder.replace(batch, &scatter)
            }
        }
    }

    var remarks: [String] {
        [
            "Timers are made, added and cancelled on the loop's thread, for dates in random order. After each round, timers "
                + "that are due are added and some of them cancelled, and the others must fire. In the end, all of ours that "
                + "wait are made due, and each must fire. (SwiftNIO's are not checked.)",
            "Cancelling any of those that wait also loads the memory of a timer that was not used for long: with many, it is "
                + "not in the cache.",
        ]
    }

    var charts: [Chart] { [chart] }

    var tables: [Table] {
        Change.allCases.map { change in
            var table = Table(
                title: "Timers \(change.rawValue) (ns for both)",
                columns: Self.sizes.flatMap { size in
                    [
                        .ranged("\(NumberFormat.grouped(size)) wait", "at\(size)", .nanoseconds)
                    ]
                } + [
                    .ranged("100,000 ÷ 1,000", "ratio", .ratio)
                ])
            table.rows = TimerSubject.allCases.map { subject in
                var row = Table.Row(name: subject.rawValue)
                for size in Self.sizes {
                    row.add(
                        times.spread(Key(subject: subject, change: change, pending: size)), as: "at\(size)")
                }
                row.add(ratio(subject, change), as: "ratio")
                return row
            }
            return table
        }
    }

    private var chart: Chart {
        .costs(
            "Cancel a timer and add another", level: "the timers that wait cost nothing",
            size: "timers that wait",
            lines: TimerSubject.allCases.map { subject in
                Chart.Line(
                    name: subject.rawValue, role: subject.role,
                    points: Self.sizes.compactMap { size in
                        times.spread(Key(subject: subject, change: .replace, pending: size))
                            .map { Chart.Point(size: size, cost: $0) }
                    })
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        Change.allCases.map { change in
            TargetRow(
                "B-T1", "timer, \(change.rawValue), 100,000 wait ÷ 1,000", .atMost(2),
                stretch: .atMost(1.5), figure: ratio(.own, change))
        }
    }

    private func ratio(_ subject: TimerSubject, _ change: Change) -> Spread? {
        times.ratio(
            Key(subject: subject, change: change, pending: Self.many),
            to: Key(subject: subject, change: change, pending: Self.few))
    }
}

/// A loop in which many timers wait, each with a different date in the far future.
protocol PendingTimers: AnyObject, Sendable {
    /// The number of the loop's thread.
    var number: ThreadNumber { get }

    /// Runs a job on the loop's thread while the loop does nothing else, and waits for the end of the job.
    func onThread(_ job: @escaping @Sendable () -> Void)

    // The other methods are called on the loop's thread.

    /// Adds the waiting timers.
    func fill()

    /// Adds a timer and cancels it, `count` times.
    ///
    /// - Parameters:
    ///   - count: The number of times.
    ///   - scatter: Picks the position of the date among the waiting timers.
    func addAndCancel(_ count: Int, _ scatter: inout ScatteredIndices)

    /// Cancels a waiting timer and adds another, `count` times.
    ///
    /// - Parameters:
    ///   - count: The number of times.
    ///   - scatter: Picks the timer to cancel, and then the position of the new timer's date.
    func replace(_ count: Int, _ scatter: inout ScatteredIndices)

    /// Adds twice `count` timers that are due now, cancels every other timer, and runs the loop.
    ///
    /// - Parameter count: The number of timers that are not cancelled.
    /// - Throws: ``Miscount`` if more or fewer timers fire within ten seconds.
    func fireSome(_ count: Int) throws(Miscount)

    /// Makes all waiting timers due now, and runs the loop.
    ///
    /// - Throws: ``Miscount`` if more or fewer timers fire.
    func fireAll() throws(Miscount)
}

extension PendingTimers {
    func fireAll() throws(Miscount) {}
}

/// Pending timers in an array, sorted by their dates.
protocol PendingTimerArray: PendingTimers {
    associatedtype Held

    /// The waiting timers, which only the loop's thread uses.
    var timers: [Held] { get set }
    /// The number of waiting timers.
    var pending: Int { get }

    /// Sets the first date, which is hours from now.
    func begin()

    /// Adds a timer whose date has the given position among the waiting timers.
    func add(at index: Int) -> Held

    func cancel(_ timer: Held)
}

extension PendingTimerArray {
    func fill() {
        begin()
        for index in 0..<pending { timers.append(add(at: index)) }
    }

    func addAndCancel(_ count: Int, _ scatter: inout ScatteredIndices) {
        for _ in 0..<count { cancel(add(at: scatter.next())) }
    }

    func replace(_ count: Int, _ scatter: inout ScatteredIndices) {
        for _ in 0..<count {
            let index = scatter.next()
            cancel(timers[index])
            timers[index] = add(at: scatter.next())
        }
    }
}

/// The loops whose timers are compared.
///
/// Dispatch is not compared, because it adds and cancels timers later, on another thread.
enum TimerSubject: String, CaseIterable {
    case own = "RunLoops Timer"
    case foundation = "Foundation Timer"
    case nio = "SwiftNIO scheduleTask"

    /// The relation to this package.
    var role: Chart.Role { self == .own ? .ours : .peer }

    /// Makes a loop for `pending` waiting timers.
    func make(pending: Int) -> any PendingTimers {
        switch self {
        case .own: RunLoopPendingTimers(pending: pending)
        case .foundation: FoundationPendingTimers(pending: pending)
        case .nio: NIOPendingTimers(pending: pending)
        }
    }
}

internal import CYardsticks
internal import Dispatch
internal import RunLoops

/// Measures the ticks that a loop misses because it shares two processors with eight busy processes.
///
/// One loop sleeps between ticks, and the other is allowed to spin. Read "delivered" first: the kernel decides how many ticks the
/// sleeping loop gets, and the spinning loop should get as many.
struct SharedProcessors: Measurement {
    private enum Policy: String, CaseIterable {
        case park = "park"
        case spin = "spin(for: 2 ms)"

        var policy: RunLoop.WaitPolicy { self == .park ? .park : .spin(for: .milliseconds(2)) }
    }

    private static let processes = 8

    /// One loop for each policy, because a loop adapts to the machine.
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
            // In the first round, the warm-up, the spinning loop learns that it shares its processors.
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

/// Observes a timer of one millisecond, and a descriptor that is always ready, in a loop for a while.
final class TimerWatch: @unchecked Sendable {
    // Safe because only the loop's thread uses the mutable state until this thread signals `isOver`.
    /// The lateness of each fire, in nanoseconds.
    private(set) var delays: [Int64] = []
    /// The number of points of the timer's grid after the first fire, and the number of fires at these points.
    private(set) var points = 0
    var fires: Int { delays.count - 1 }
    /// The number of calls of the descriptor's handler.
    private(set) var reads = 0
    /// The number of passes without a call of the handler, between its first and its last call.
    private(set) var passesWithoutRead = 0
    /// The number of messages that the loop received between the first and the last fire, and the number of its passes.
    private(set) var messages = 0
    private(set) var passes = 0

    private var gridError = 0
    private var lastPass: Int?
    private let isOver = DispatchSemaphore(value: 0)

    /// Watches a loop, and waits for the end of the observation.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - length: The length of the observation.
    ///   - generator: Keeps the loop busy, or nil for a loop at rest. Only a busy loop watches the descriptor, because a loop
    ///     with a descriptor that is always ready is never at rest.
    /// - Throws: ``Miscount`` if the timer left its grid, or if the observation has not ended after two minutes.
    init(_ loop: RunLoop, length: Duration, generator: LoadGenerator?) throws {
        try loop.performAndWait { [self] in try begin(length, generator) }
        try isOver.waitForEnd()
        try Miscount.check(expected: 0, found: gridError)
    }

    private func begin(_ length: Duration, _ generator: LoadGenerator?) throws {
        let loop = RunLoop.current
        let source = generator == nil ? nil : try readSource(in: loop)
        var first: (date: ContinuousClock.Instant, statistics: RunLoop.Statistics, messages: Int)?
        let timer = Timer(timeInterval: .milliseconds(1), repeats: true) { [self] timer in
            let date = timer.fireDate
            delays.append(date.duration(to: .now).nanoseconds)
            guard let first else {
                first = (date, loop.statistics, generator?.count ?? 0)
                return
            }
            if first.date.duration(to: date) < length { return }
            timer.invalidate()
            source?.invalidate()
            passes = loop.statistics.passes - first.statistics.passes
            messages = (generator?.count ?? 0) - first.messages
            // At each point of the grid, the timer has fired or has counted a missed fire.
            points = Int(first.date.duration(to: date) / .milliseconds(1))
            gridError = points - fires - timer.missedFireCount
            isOver.signal()
        }
        loop.add(timer, forMode: .default)
    }

    /// Returns a source for a descriptor that is always ready, because nothing reads it.
    private func readSource(in loop: RunLoop) throws -> DescriptorSource {
        let descriptor = bench_event_open(true)
        precondition(descriptor >= 0, "TimerWatch: the kernel refused an eventfd")
        let source = DescriptorSource(OwnedDescriptor(descriptor), interest: .read) { [self] _, _ in
            let pass = loop.statistics.passes
            reads += 1
            if let lastPass { passesWithoutRead += pass - lastPass - 1 }
            lastPass = pass
        }
        try loop.add(source, forMode: .default)
        return source
    }
}

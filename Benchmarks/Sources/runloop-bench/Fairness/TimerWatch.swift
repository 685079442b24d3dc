internal import CYardsticks
internal import Dispatch
internal import RunLoops

/// A timer of one millisecond, and a descriptor that is always ready, in a loop, for a while.
final class TimerWatch: @unchecked Sendable {
    // Safe because only the loop's thread touches what changes, until it signals the end.
    /// How late each fire was, in nanoseconds.
    private(set) var delays: [Int64] = []
    /// The points of the timer's grid after the first fire, and those of them at which it has fired.
    private(set) var points = 0
    var fires: Int { delays.count - 1 }
    /// How often the descriptor's handler was called.
    private(set) var reads = 0
    /// Passes between two of its calls.
    private(set) var passesWithoutRead = 0
    /// What the generator had sent through the loop between the first and the last fire, and in how many passes.
    private(set) var messages = 0
    private(set) var passes = 0

    private var gridError = 0
    private var lastPass: Int?
    private let isOver = DispatchSemaphore(value: 0)

    /// Watches a loop and waits for the end.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - length: For how long.
    ///   - generator: What keeps it busy; nil if it is idle. The descriptor is watched only if it is busy: it would never
    ///     be idle otherwise.
    /// - Throws: If the timer left its grid, or nothing fired for seconds.
    init(_ loop: RunLoop, length: Duration, generator: LoadGenerator?) throws {
        try loop.performAndWait { [self] in try begin(length, generator) }
        if isOver.wait(timeout: .now() + .seconds(120)) != .success { throw Miscount(expected: 1, found: 0) }
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
            // Each point of the grid has fired, or is counted as missed.
            points = Int(first.date.duration(to: date) / .milliseconds(1))
            gridError = points - fires - timer.missedFireCount
            isOver.signal()
        }
        loop.add(timer, forMode: .default)
    }

    /// A descriptor that is ready, and that nobody empties.
    private func readSource(in loop: RunLoop) throws -> DescriptorSource {
        let descriptor = bench_event_open(true)
        precondition(descriptor >= 0, "one descriptor always fits")
        let source = DescriptorSource(descriptor, interest: .read, closesDescriptor: true) { [self] _, _ in
            let pass = loop.statistics.passes
            reads += 1
            if let lastPass { passesWithoutRead += pass - lastPass - 1 }
            lastPass = pass
        }
        try loop.add(source, forMode: .default)
        return source
    }
}

internal import CThreadControl
internal import RunLoops

/// Isolates our timers, on the thread of a loop that does not run meanwhile.
final class LoopTimerHolder: ListedTimerHolder, @unchecked Sendable {
    // Safe because all that changes is touched by the loop's thread only.
    private let thread = WorkerThread()
    let pending: Int
    private let fires = Calls()
    var timers: [Timer] = []
    private var start = ContinuousClock.now

    init(pending: Int) { self.pending = pending }

    var number: ThreadNumber { thread.number }

    func onThread(_ job: @escaping @Sendable () -> Void) {
        thread.run(job)
        thread.wait()
    }

    func begin() { start = .now + .seconds(36_000) }

    func add(at index: Int) -> Timer { add(at: start + .milliseconds(index)) }

    func cancel(_ timer: Timer) { timer.invalidate() }

    func fireSome(_ count: Int) throws(Miscount) {
        let before = fires.count
        let now = ContinuousClock.now
        let cancelled = (0..<count).map { _ in
            add(at: now)
            return add(at: now)
        }
        for timer in cancelled { timer.invalidate() }
        try run(until: before + count)
    }

    func fireAll() throws(Miscount) {
        let before = fires.count
        let now = ContinuousClock.now
        for timer in timers { timer.fireDate = now }
        try run(until: before + pending)
    }

    /// Runs the loop until so many have fired, and then once more.
    private func run(until expected: Int) throws(Miscount) {
        let end = bench_now() + 10_000_000_000
        while fires.count < expected, bench_now() < end { RunLoop.current.run(until: .now) }
        RunLoop.current.run(until: .now)
        try Miscount.check(expected: expected, found: fires.count)
    }

    @discardableResult
    private func add(at date: ContinuousClock.Instant) -> Timer {
        let timer = Timer(fireAt: date, interval: .zero, repeats: false) { [fires] _ in fires.note() }
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}

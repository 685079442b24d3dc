internal import CThreadControl
internal import Foundation

/// Isolates Foundation's timers, on the thread of a loop that does not run meanwhile.
final class FoundationTimerHolder: ListedTimerHolder, @unchecked Sendable {
    // Safe because all that changes is touched by the loop's thread only.
    private let thread = WorkerThread()
    let pending: Int
    private let fires = Calls()
    var timers: [Timer] = []
    private var start = Date()

    init(pending: Int) { self.pending = pending }

    var number: ThreadNumber { thread.number }

    func onThread(_ job: @escaping @Sendable () -> Void) {
        thread.run(job)
        thread.wait()
    }

    func begin() { start = Date() + 36_000 }

    func add(at index: Int) -> Timer { add(at: start + Double(index) / 1000) }

    func cancel(_ timer: Timer) { timer.invalidate() }

    func fireSome(_ count: Int) throws(Miscount) {
        let expected = fires.count + count
        let now = Date()
        let cancelled = (0..<count).map { _ in
            add(at: now)
            return add(at: now)
        }
        for timer in cancelled { timer.invalidate() }
        let end = bench_now() + 10_000_000_000
        while fires.count < expected, bench_now() < end {
            _ = RunLoop.current.run(mode: .default, before: Date() + 0.001)
        }
        try Miscount.check(expected: expected, found: fires.count)
    }

    @discardableResult
    private func add(at date: Date) -> Timer {
        let timer = Timer(fire: date, interval: 0, repeats: false) { [fires] _ in fires.note() }
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}

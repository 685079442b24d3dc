internal import Notifications

/// Isolates memory: each look-up finds one of as many names in a dictionary, and adds one to its number.
///
/// Read its quotient beside the queue's: it is what having many costs a program that does nothing else.
final class DictionaryEnqueuer: Enqueuer, @unchecked Sendable {
    // Safe because all that changes is touched by the thread only.
    let thread = WorkerThread()
    private let pending: [Notification.Name]
    private var counts: [Notification.Name: Int] = [:]
    private var merged = 0

    init(pending: Int) { self.pending = (0..<pending).map { Notification.Name("name \($0)") } }

    func fill() {
        for name in pending { counts[name] = 0 }
    }

    func merge(_ count: Int, _ scatter: inout Scatter) {
        for _ in 0..<count { counts[pending[scatter.next()], default: 0] += 1 }
        merged += count
    }

    /// Not measured: a dictionary that grows is another story.
    func add(_ count: Int) {}

    func empty() throws(Miscount) {
        try Miscount.check(expected: pending.count, found: counts.count)
        try Miscount.check(expected: merged, found: counts.values.reduce(0, +))
    }
}

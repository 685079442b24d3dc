internal import Foundation

/// Isolates Foundation's `enqueue`, on the thread of a loop that does not run meanwhile.
///
/// Its queue looks at all that wait: it can be asked with a hundred thousand, but not filled with them that way.
final class FoundationEnqueuer: Enqueuer, @unchecked Sendable {
    // Safe because all that changes is touched by the queue's thread only.
    let thread = WorkerThread()
    private let center = NotificationCenter()
    private let calls = Calls()
    private let pending: [Notification.Name]
    private var queue: NotificationQueue?
    private var posted = 0

    init(pending: Int) {
        self.pending = (0..<pending).map { Notification.Name("name \($0)") }
        _ = center.addObserver(forName: nil, object: nil, queue: nil) { [calls] _ in calls.note() }
        thread.run { [self] in
            queue = NotificationQueue(notificationCenter: center)
            // A loop without a timer or port returns at once, and posts nothing.
            RunLoop.current.add(
                Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }, forMode: .default)
        }
        thread.wait()
    }

    func fill() {
        for name in pending {
            queue?.enqueue(Notification(name: name), postingStyle: .asap, coalesceMask: [], forModes: nil)
        }
    }

    func merge(_ count: Int, _ scatter: inout Scatter) {
        guard let queue else { return }
        for _ in 0..<count {
            queue.enqueue(Notification(name: pending[scatter.next()]), postingStyle: .asap)
        }
    }

    /// Not measured: to Foundation's queue it is the same as merging.
    func add(_ count: Int) {}

    func empty() throws(Miscount) {
        _ = RunLoop.current.run(mode: .default, before: Date())
        let found = calls.count - posted
        posted = calls.count
        try Miscount.check(expected: pending.count, found: found)
    }
}

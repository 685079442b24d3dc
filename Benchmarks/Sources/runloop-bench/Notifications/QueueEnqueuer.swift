internal import Notifications
internal import RunLoops

/// Isolates our queue's `enqueue`, on the thread of a loop that does not run meanwhile.
final class QueueEnqueuer: Enqueuer, @unchecked Sendable {
    // Safe because all that changes is touched by the queue's thread only.
    let thread = WorkerThread()
    private let center = NotificationCenter()
    private let calls = Calls()
    private let token: ObservationToken
    private let pending: [Notification.Name]
    private let others: [Notification.Name]
    private var queue: NotificationQueue?
    /// How many of the others wait.
    private var added = 0
    private var posted = 0

    init(pending: Int, others: Int) {
        // Short enough that a copy is not counted: names are constants in most programs, and constants are not.
        self.pending = (0..<pending).map { Notification.Name("name \($0)") }
        self.others = (0..<others).map { Notification.Name("other \($0)") }
        token = center.addObserver(forName: nil) { [calls] _ in calls.note() }
        thread.run { [self] in queue = NotificationQueue(notificationCenter: center) }
        thread.wait()
    }

    func fill() {
        for name in pending { queue?.enqueue(Notification(name: name), postingStyle: .asap) }
    }

    func merge(_ count: Int, _ scatter: inout Scatter) {
        guard let queue else { return }
        for _ in 0..<count {
            queue.enqueue(Notification(name: pending[scatter.next()]), postingStyle: .asap)
        }
    }

    func add(_ count: Int) {
        guard let queue else { return }
        for name in others[added..<added + count] {
            queue.enqueue(Notification(name: name), postingStyle: .asap)
        }
        added += count
    }

    func empty() throws(Miscount) {
        // A deadline that has passed: one pass, at the end of which everything is posted.
        RunLoop.current.run(until: .now)
        let found = calls.count - posted
        posted = calls.count
        try Miscount.check(expected: pending.count + added, found: found)
        added = 0
    }
}

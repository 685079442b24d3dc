internal import Glibc
internal import RunLoops

/// The unfinished deliveries of one notification, counted for the poster that waits for them.
final class PendingDeliveries: Sendable {
    private let contents = Guarded(Contents())
    private let gate = ThreadGate()
    private let poster = pthread_self()

    private struct Contents {
        /// The number of deliveries under way, for each loop that the poster waits for.
        var open: [WaitTarget: Int] = [:]
        /// True once all observers on the posting thread have been called.
        var isPosted = false
        /// The loop of the posting thread; nil if no delivery was sent to that loop.
        var postersLoop: WaitTarget?
        /// True if a delivery was discarded because its loop has ended.
        var wasDiscarded = false
        /// The circle of waits that contains this wait; nil unless another thread has found such a circle.
        var circle: WaitCircle?

        var isOver: Bool { isPosted && open.isEmpty }
        /// True if a delivery is still to be made on the waiting thread itself.
        ///
        /// The wait would then never end.
        var isForPoster: Bool { postersLoop.map { open[$0] != nil } ?? false }
    }

    /// Counts a delivery that is on its way to a loop.
    func begin(on loop: RunLoop) {
        // A handler on another thread can post the same notification again. The current loop is then not the first poster's loop,
        // so the threads are compared, too.
        let isPosters = loop.isCurrent && pthread_equal(poster, pthread_self()) != 0
        contents.withLock { contents in
            contents.open[loop.waitTarget, default: 0] += 1
            if isPosters { contents.postersLoop = loop.waitTarget }
        }
    }

    /// Counts a delivery to a loop as ended.
    ///
    /// `wasDiscarded` is true if the delivery was discarded because the loop has ended.
    func end(on loop: RunLoop, wasDiscarded: Bool = false) {
        let isOver = contents.withLock { contents in
            let count = contents.open[loop.waitTarget] ?? 0
            contents.open[loop.waitTarget] = count > 1 ? count - 1 : nil
            if wasDiscarded { contents.wasDiscarded = true }
            return contents.isOver
        }
        if isOver { gate.open() }
    }

    /// Waits until no delivery of the notification is under way.
    ///
    /// Call this after the post itself has returned.
    func wait(until deadline: ContinuousClock.Instant, for notification: Notification) throws(PerformError) {
        let (isForPoster, isOver) = contents.withLock { contents in
            contents.isPosted = true
            return (contents.isForPoster, contents.isOver)
        }
        if isForPoster { throw about(notification, .wouldDeadlock) }
        if !isOver { try waitForLoops(until: deadline, notification) }
        if contents.withLock({ $0.wasDiscarded }) { throw about(notification, .loopEnded) }
    }

    private func waitForLoops(
        until deadline: ContinuousClock.Instant, _ notification: Notification
    ) throws(PerformError) {
        let wait = ThreadWait(
            in: "NotificationCenter.postAndWait", fileID: notification.fileID, line: notification.line,
            refuse: { self.refuse($0) }, for: { self.targets })
        // A thread whose deadline has passed does not wait, so it cannot close a circle of waits.
        if deadline > RunLoop.now, let circle = wait.begin() { throw PerformError(circle) }
        let isOver = gate.wait(until: deadline)
        wait.end()
        if !isOver { throw about(notification, .timedOut) }
        if let circle = contents.withLock({ $0.circle }) { throw PerformError(circle) }
    }

    private func about(_ notification: Notification, _ reason: PerformError.Reason) -> PerformError {
        let place = SourceLocation(notification.fileID, notification.line)
        return PerformError(reason).about("notification \"\(notification.name.rawValue)\" made at \(place)")
    }

    /// The loops that the poster still waits for.
    private var targets: [WaitTarget] {
        contents.withLock { $0.circle == nil ? Array($0.open.keys) : [] }
    }

    /// Ends the poster's wait with an error, because the wait is part of a circle of waits.
    ///
    /// - Returns: False if the wait is already over.
    private func refuse(_ circle: WaitCircle) -> Bool {
        let refuses = contents.withLock { contents in
            if contents.isOver || contents.circle != nil { return false }
            contents.circle = circle
            return true
        }
        if refuses { gate.open() }
        return refuses
    }
}

internal import Glibc
internal import RunLoops

/// What a poster that waits for its observers holds: open when every delivery of its notification is over.
final class Receipt: Sendable {
    private let contents = Guarded(Contents())
    private let gate = ThreadGate()
    private let poster = pthread_self()

    private struct Contents {
        /// Deliveries under way, by what the poster waits for.
        var open: [WaitTarget: Int] = [:]
        /// The post has called everybody.
        var isPosted = false
        /// The poster's own loop, if some delivery was to be made there later.
        var postersLoop: WaitTarget?
        /// Some delivery was let go of, because its loop has ended.
        var wasLost = false
        /// What the wait is part of, if somebody else has found that it would never end.
        var circle: WaitCircle?

        var isOver: Bool { isPosted && open.isEmpty }
        /// Whether some delivery is still to be made on the very thread that waits.
        var isForPoster: Bool { postersLoop.map { open[$0] != nil } ?? false }
    }

    /// A delivery is on its way to a loop.
    func enter(_ loop: RunLoop) {
        // Others may post the notification once more, on threads of their own.
        let isPosters = loop.isCurrent && pthread_equal(poster, pthread_self()) != 0
        contents.withLock { contents in
            contents.open[loop.waitTarget, default: 0] += 1
            if isPosters { contents.postersLoop = loop.waitTarget }
        }
    }

    /// A delivery is over, or was lost because the loop has ended.
    func leave(_ loop: RunLoop, wasLost: Bool = false) {
        let isOver = contents.withLock { contents in
            let count = contents.open[loop.waitTarget] ?? 0
            contents.open[loop.waitTarget] = count > 1 ? count - 1 : nil
            if wasLost { contents.wasLost = true }
            return contents.isOver
        }
        if isOver { gate.open() }
    }

    /// Waits for what is under way; the post itself is over.
    func wait(until deadline: ContinuousClock.Instant, at notification: Notification) throws(PerformError) {
        let (isForPoster, isOver) = contents.withLock { contents in
            contents.isPosted = true
            return (contents.isForPoster, contents.isOver)
        }
        let origin = {
            ErrorOrigin.named(
                "notification", notification.name.rawValue,
                SourceLocation(notification.fileID, notification.line))
        }
        if isForPoster { throw .wouldDeadlock(origin()) }
        if !isOver { try waitForLoops(until: deadline, at: notification, origin) }
        if contents.withLock({ $0.wasLost }) { throw .loopEnded(origin()) }
    }

    private func waitForLoops(
        until deadline: ContinuousClock.Instant, at notification: Notification, _ origin: () -> ErrorOrigin
    ) throws(PerformError) {
        let wait = ThreadWait(
            in: "NotificationCenter.postAndWait", fileID: notification.fileID, line: notification.line,
            refuse: { self.refuse($0) }, for: { self.stillWaitsFor })
        // Where the deadline has passed nobody waits.
        if deadline > RunLoop.now, let circle = wait.begin() { throw .circle(circle) }
        let isOver = gate.wait(until: deadline)
        wait.end()
        if !isOver { throw .timedOut(origin()) }
        if let circle = contents.withLock({ $0.circle }) { throw .circle(circle) }
    }

    private var stillWaitsFor: [WaitTarget] {
        contents.withLock { $0.circle == nil ? Array($0.open.keys) : [] }
    }

    /// Ends the wait, if it is not over.
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

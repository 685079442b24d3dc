public import RunLoops

/// Posts notifications later, on its loop's thread, and merges those that say the same.
///
/// A queue belongs to one loop and posts to one center. What is enqueued as soon as possible is posted at the end of a pass
/// of the loop, before it sleeps; what is enqueued for idle time when the loop is about to sleep. Both in the order in
/// which they were enqueued, the first always before the second. What an observer enqueues goes to the next round.
///
/// ```swift
/// NotificationQueue.default.enqueue(Notification(name: .layoutNeeded), postingStyle: .asap)
/// ```
///
/// While a notification waits to be posted as soon as possible, its modes have something to do: a run in them does not
/// finish before. One that waits for idle time does not keep a run going.
///
/// > Thread safety: ``enqueue(_:postingStyle:coalesceMask:keeping:forModes:)`` and
/// > ``dequeueNotifications(matching:coalesceMask:)`` from any thread; observers are called on the loop's.
public final class NotificationQueue: Sendable {
    /// The loop on whose thread the queue posts.
    public let runLoop: RunLoop

    /// Where the queue posts.
    public let notificationCenter: NotificationCenter

    /// `nonisolated(unsafe)`: the loop's thread only.
    nonisolated(unsafe) private let lines: QueueLines

    /// The current loop's queue for the default center, made now if it has none.
    @available(*, noasync, message: "the thread may change at any await; keep the queue you want")
    public static var `default`: NotificationQueue {
        RunLoop.current.companion(ObjectIdentifier(NotificationQueue.self)) { NotificationQueue() }
    }

    /// Makes one more queue for the current loop.
    ///
    /// The loop keeps what it has to post until the loop ends.
    ///
    /// - Parameter notificationCenter: Where it posts.
    @available(
        *, noasync, message: "the thread may change at any await; perform a block on the loop you want"
    )
    public init(notificationCenter: NotificationCenter = .default) {
        runLoop = .current
        self.notificationCenter = notificationCenter
        let lines = QueueLines(notificationCenter)
        unsafe self.lines = lines
        runLoop.addPassEndWork(lines.asap)
        runLoop.addIdleWork(lines.idle)
    }

    /// Leaves a notification to be posted.
    ///
    /// Called on another thread it is handed over to the loop's, which wakes it.
    ///
    /// - Parameters:
    ///   - notification: What has happened.
    ///   - postingStyle: When it is posted. ``PostingStyle/now`` posts it before this returns, after taking what is like it out
    ///     of the queue; only if the loop runs in one of the modes, or does not run.
    ///   - coalesceMask: What makes a queued notification, whenever it is to be posted, one that says the same.
    ///   - survivor: Which of those that say the same is posted.
    ///   - modes: The modes in which it may be posted; nil for the default mode. The common modes stand for each of them.
    /// - Returns: False if the loop's thread has ended.
    /// - Complexity: O(1), however many wait.
    @discardableResult
    public func enqueue(
        _ notification: Notification, postingStyle: PostingStyle,
        coalesceMask: NotificationCoalescing = [.onName, .onSender], keeping survivor: Survivor = .first,
        forModes modes: [RunLoop.Mode]? = nil
    ) -> Bool {
        let modes = modes ?? [.default]
        if modes.isEmpty {
            fatalError(
                "NotificationQueue.enqueue: no mode, so it would never be posted; use nil for the default mode"
            )
        }
        if runLoop.isCurrent {
            enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
            return true
        }
        return runLoop.perform(inModes: modes) {
            self.enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
        }
    }

    private func enqueueHere(
        _ notification: Notification, _ style: PostingStyle, _ mask: NotificationCoalescing,
        _ survivor: Survivor,
        _ modes: [RunLoop.Mode]
    ) {
        switch style {
        case .now:
            unsafe lines.remove(like: notification, mask)
            if runLoop.isIdleOrRuns(inOneOf: modes) { notificationCenter.post(notification) }
        case .asap: unsafe lines.enqueue(notification, on: lines.asap, mask, survivor, modes)
        case .whenIdle: unsafe lines.enqueue(notification, on: lines.idle, mask, survivor, modes)
        }
    }

    /// Takes notifications out that wait to be posted.
    ///
    /// Called on another thread it is handed over to the loop's; some may be posted before it gets there.
    ///
    /// - Parameters:
    ///   - notification: What they are compared with.
    ///   - coalesceMask: What must be alike; with nothing, nothing is taken out.
    public func dequeueNotifications(
        matching notification: Notification, coalesceMask: NotificationCoalescing
    ) {
        if runLoop.isCurrent {
            unsafe lines.remove(like: notification, coalesceMask)
        } else {
            runLoop.perform { unsafe self.lines.remove(like: notification, coalesceMask) }
        }
    }
}

extension NotificationQueue {
    /// When a notification is posted.
    ///
    /// The numbers are Foundation's.
    ///
    /// > Thread safety: a value.
    public enum PostingStyle: UInt, Sendable {
        /// When the loop is about to sleep. A run that is about to end does not post it; the next one does.
        case whenIdle = 1
        /// At the end of the pass.
        case asap = 2
        /// At once.
        case now = 3
    }

    /// What two notifications must have in common to say the same.
    ///
    /// The bits are Foundation's.
    ///
    /// > Thread safety: a value.
    public struct NotificationCoalescing: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Makes a mask from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The name.
        public static let onName = NotificationCoalescing(rawValue: 1)
        /// The sender, or that both have none.
        public static let onSender = NotificationCoalescing(rawValue: 2)
    }

    /// Which of several notifications that say the same is posted.
    ///
    /// > Thread safety: a value.
    public enum Survivor: Sendable {
        /// The one that waits already, in its place.
        case first
        /// The new one, last in line.
        case latest
        /// One made from the one that waits and the new one, in the place of the one that waits.
        case merge(@Sendable (_ old: Notification, _ new: Notification) -> Notification)
    }
}

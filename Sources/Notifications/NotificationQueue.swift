public import RunLoops

/// Posts notifications later, on its loop's thread, and merges those that say the same.
///
/// A queue belongs to one loop and posts to one center. What is enqueued as soon as possible is posted in the pass that is
/// under way, when its handlers have been called and before the loop sleeps. What is enqueued for idle time is posted only
/// when the loop is about to sleep. Both in the order in which they were enqueued. What an observer enqueues goes to the
/// next round. <doc:Coalescing> says when each is posted.
///
/// ```swift
/// NotificationQueue.default.enqueue(Notification(name: .layoutNeeded), postingStyle: .asap)
/// ```
///
/// While a notification waits to be posted as soon as possible, its modes have something to do: a run in them does not return
/// ``/RunLoops/RunLoop/RunResult/finished`` until it has been posted. One that waits for idle time does not keep a run going.
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
    ///
    /// It is the same object each time on one thread, and another one on each thread.
    ///
    /// > Thread safety: any thread, each with its own. Not in asynchronous code.
    @available(*, noasync, message: "the thread may change at any await; keep the queue you want")
    public static var `default`: NotificationQueue {
        RunLoop.current.companion(ObjectIdentifier(NotificationQueue.self)) { NotificationQueue() }
    }

    /// Makes one more queue for the current loop.
    ///
    /// What waits is posted also when the queue itself has gone; then the loop keeps nothing of it.
    ///
    /// - Parameter notificationCenter: Where it posts. It is kept alive as long.
    ///
    /// > Thread safety: any thread, for its own loop. Not in asynchronous code.
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

    deinit {
        // Safe: nobody but the loop has the lines any more, and they are looked into on its thread.
        nonisolated(unsafe) let lines = unsafe lines
        runLoop.doLast { unsafe lines.queueHasGone() }
    }

    /// Leaves a notification to be posted.
    ///
    /// Called on another thread it is handed over to the loop's, which wakes it: it is enqueued there, and all that is said
    /// here happens there, when the loop runs; for ``PostingStyle/now``, when it runs in one of the modes.
    ///
    /// - Parameters:
    ///   - notification: What has happened.
    ///   - postingStyle: When it is posted. ``PostingStyle/now`` posts it before this returns, after taking what is like it out
    ///     of the queue. If the loop runs, but in none of the modes, it is not posted at all.
    ///   - coalesceMask: What makes a queued notification, whatever its style and its modes, one that says the same. An empty
    ///     mask lets all of them wait.
    ///   - survivor: Which of those that say the same is posted; without meaning for ``PostingStyle/now``.
    ///   - modes: The modes in which it may be posted, at least one; nil for the default mode. The common modes stand for
    ///     each of them.
    /// - Returns: False if the loop's thread has ended, and it was not posted: then it is let go of.
    /// - Complexity: O(1), however many wait.
    ///
    /// > Thread safety: any thread.
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
            return enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
        }
        if postingStyle == .now {
            return runLoop.perform(inModes: modes) {
                self.enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
            }
        }
        // In every mode, or what this thread enqueues and takes out for several modes would lose its order.
        return runLoop.performInEveryMode {
            self.enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
        }
    }

    /// - Returns: Whether it was posted, or may be later.
    @discardableResult
    private func enqueueHere(
        _ notification: Notification, _ style: PostingStyle, _ mask: NotificationCoalescing,
        _ survivor: Survivor,
        _ modes: [RunLoop.Mode]
    ) -> Bool {
        switch style {
        case .now:
            unsafe lines.remove(like: notification, mask)
            if runLoop.isIdleOrRuns(inOneOf: modes) {
                notificationCenter.post(notification)
                // Also in what goes when the loop has let go of its work.
                return true
            }
        case .asap: unsafe lines.enqueue(notification, on: lines.asap, mask, survivor, modes)
        case .whenIdle: unsafe lines.enqueue(notification, on: lines.idle, mask, survivor, modes)
        }
        return unsafe !lines.hasEnded
    }

    /// Takes notifications out that wait to be posted.
    ///
    /// Called on another thread it is handed over to the loop's; some may be posted before it gets there. It finds what the
    /// same thread has enqueued before.
    ///
    /// - Parameters:
    ///   - notification: What they are compared with.
    ///   - coalesceMask: What must be alike, whatever their style and their modes; with nothing, nothing is taken out.
    ///
    /// > Thread safety: any thread.
    public func dequeueNotifications(
        matching notification: Notification, coalesceMask: NotificationCoalescing
    ) {
        if runLoop.isCurrent {
            unsafe lines.remove(like: notification, coalesceMask)
        } else {
            runLoop.performInEveryMode { unsafe self.lines.remove(like: notification, coalesceMask) }
        }
    }
}

extension NotificationQueue {
    /// When a notification is posted.
    ///
    /// The numbers are Foundation's. <doc:Coalescing> says where in a pass each has its place.
    ///
    /// > Thread safety: a value.
    public enum PostingStyle: UInt, Sendable {
        /// When the loop is about to sleep. A run that is about to end does not post it; the next one does.
        case whenIdle = 1
        /// In the pass that is under way, when its handlers have been called and before the loop sleeps.
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
        /// The one that waits already, in its place, with its style and its modes; those of the new one count for nothing.
        case first
        /// The new one, last in line, with its own style and modes. All that wait and say the same are taken out.
        case latest
        /// One made from the one that waits longest and the new one, in the place of the one that waits.
        ///
        /// - Precondition: What is made has the name and the sender of the old one.
        case merge(@Sendable (_ old: Notification, _ new: Notification) -> Notification)
    }
}

extension NotificationQueue.NotificationCoalescing: CustomStringConvertible {
    /// The names of the members, as in `[onName]`.
    public var description: String { words(["onName": .onName, "onSender": .onSender]) }
}

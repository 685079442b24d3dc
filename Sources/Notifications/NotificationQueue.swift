public import RunLoops

/// A queue that posts notifications later, on the thread of its loop, and merges notifications that match.
///
/// A queue belongs to one loop and posts to one center. A notification with the style ``PostingStyle/asap`` is posted in the
/// current pass, when the pass has called its handlers and before the loop sleeps. One with the style
/// ``PostingStyle/whenIdle`` is posted only when the loop is about to sleep. Within a style, notifications are posted in the
/// order in which they were enqueued. A notification that an observer enqueues is posted in the next round.
/// <doc:PostingLater> defines when each is posted, and <doc:Coalescing> which ones are merged.
///
/// ```swift
/// NotificationQueue.default.enqueue(Notification(name: .layoutNeeded), postingStyle: .asap)
/// ```
///
/// While an `asap` notification waits, its modes have work to do: a run in them does not return
/// ``/RunLoops/RunLoop/RunResult/finished`` until it was posted. A `whenIdle` notification does not keep a run going.
///
/// > Thread safety: ``enqueue(_:postingStyle:coalesceMask:keeping:forModes:)`` and
/// > ``dequeueNotifications(matching:coalesceMask:)`` from any thread; observers are called on the loop's.
public final class NotificationQueue: Sendable {
    /// The loop on whose thread the queue posts.
    public let runLoop: RunLoop

    /// The center to which the queue posts.
    public let notificationCenter: NotificationCenter

    /// `nonisolated(unsafe)`: used on the loop's thread only.
    nonisolated(unsafe) private let queue: CoalescingQueue

    /// The current loop's queue for the default center, made on first use.
    ///
    /// It is the same object each time on one thread, and a different one on each thread.
    ///
    /// > Thread safety: any thread, each with its own. Not in asynchronous code.
    @available(*, noasync, message: "the thread may change at any await; keep the queue you want")
    public static var `default`: NotificationQueue {
        RunLoop.current.companion(ObjectIdentifier(NotificationQueue.self)) { NotificationQueue() }
    }

    /// Makes another queue for the current loop.
    ///
    /// Notifications that wait are posted even if the queue itself was destroyed; then the loop keeps nothing of it.
    ///
    /// - Parameter notificationCenter: The center to which it posts, which is kept alive as long.
    ///
    /// > Thread safety: any thread, for its own loop. Not in asynchronous code.
    @available(
        *, noasync, message: "the thread may change at any await; perform a block on the loop you want"
    )
    public init(notificationCenter: NotificationCenter = .default) {
        runLoop = .current
        self.notificationCenter = notificationCenter
        let queue = CoalescingQueue(notificationCenter)
        unsafe self.queue = queue
        runLoop.addPassEndWork(queue.asap)
        runLoop.addIdleWork(queue.idle)
    }

    deinit {
        // Safe: only the loop refers to it from now on, and uses it on its own thread.
        nonisolated(unsafe) let queue = unsafe queue
        runLoop.doLast { unsafe queue.queueWasDestroyed() }
    }

    /// Enqueues a notification to be posted later.
    ///
    /// A call on another thread is handed over to the loop, which wakes for it. The notification is enqueued on the loop's
    /// thread, and everything below happens there, when the loop runs; with ``PostingStyle/now``, when it runs in one of the
    /// modes.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - postingStyle: The time of the post. ``PostingStyle/now`` takes matching notifications out of the queue, then posts
    ///     this one before the call returns. If the loop is running, but in none of the modes, the notification is not posted
    ///     at all.
    ///   - coalesceMask: The properties by which notifications match, whatever their styles and modes. With an empty mask none
    ///     match.
    ///   - survivor: The notification that is posted when several match; ignored for ``PostingStyle/now``.
    ///   - modes: The modes in which the notification may be posted, at least one; nil for the default mode. The common modes
    ///     stand for each of them.
    /// - Returns: False if the loop's thread has ended, so that the notification was discarded without being posted.
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
        // In every mode: otherwise calls of one thread for several modes would be carried out in another order.
        return runLoop.performInEveryMode {
            self.enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
        }
    }

    /// Enqueues a notification on the loop's thread.
    ///
    /// - Returns: True if it was posted, or may be posted later.
    @discardableResult
    private func enqueueHere(
        _ notification: Notification, _ style: PostingStyle, _ mask: NotificationCoalescing,
        _ survivor: Survivor,
        _ modes: [RunLoop.Mode]
    ) -> Bool {
        switch style {
        case .now:
            unsafe queue.remove(matching: notification, mask)
            if runLoop.isIdleOrRuns(inOneOf: modes) {
                notificationCenter.post(notification)
                // True also while the thread is ending and the loop has released its work.
                return true
            }
        case .asap: unsafe queue.enqueue(notification, on: queue.asap, mask, survivor, modes)
        case .whenIdle: unsafe queue.enqueue(notification, on: queue.idle, mask, survivor, modes)
        }
        return unsafe !queue.hasEnded
    }

    /// Takes matching notifications out of the queue without posting them.
    ///
    /// A call on another thread is handed over to the loop; some notifications may be posted before it gets there. It finds
    /// everything that the same thread has enqueued before.
    ///
    /// - Parameters:
    ///   - notification: The notification to compare with.
    ///   - coalesceMask: The properties by which notifications match, whatever their styles and modes. With an empty mask
    ///     nothing is taken out.
    ///
    /// > Thread safety: any thread.
    public func dequeueNotifications(
        matching notification: Notification, coalesceMask: NotificationCoalescing
    ) {
        if runLoop.isCurrent {
            unsafe queue.remove(matching: notification, coalesceMask)
        } else {
            runLoop.performInEveryMode { unsafe self.queue.remove(matching: notification, coalesceMask) }
        }
    }
}

public import RunLoops

/// A queue that posts notifications later, on the thread of its loop, and merges notifications that match.
///
/// A queue belongs to one loop and posts to one center. A notification with the style ``PostingStyle/asap`` is posted in the
/// current pass, after the pass has called its handlers and before the loop sleeps. A notification with the style
/// ``PostingStyle/whenIdle`` is posted only when the loop is about to sleep. Within a style, notifications are posted in the
/// order in which they were enqueued. A notification that an observer enqueues while the queue is posting is not posted until
/// the queue posts again. <doc:PostingLater> defines when each notification is posted, and <doc:Coalescing> defines which
/// notifications are merged.
///
/// ```swift
/// NotificationQueue.default.enqueue(Notification(name: .layoutNeeded), postingStyle: .asap)
/// ```
///
/// While an `asap` notification waits, a run in one of its modes does not return ``/RunLoops/RunLoop/RunResult/finished`` until
/// the notification has been posted. A `whenIdle` notification does not keep a run going.
///
/// > Thread safety: ``enqueue(_:postingStyle:coalesceMask:keeping:forModes:)`` and
/// > ``dequeueNotifications(matching:coalesceMask:)`` from any thread; observers are called on the loop's thread.
public final class NotificationQueue: Sendable {
    /// The loop on whose thread the queue posts.
    public let runLoop: RunLoop

    /// The center to which the queue posts.
    public let notificationCenter: NotificationCenter

    /// The inner queue, which keeps and posts the notifications.
    ///
    /// `nonisolated(unsafe)`, because only the loop's thread uses it.
    nonisolated(unsafe) private let queue: CoalescingQueue

    /// The current loop's queue for the default center, made on first use.
    ///
    /// Each thread has its own default queue, and gets the same object each time.
    ///
    /// > Thread safety: any thread; each thread has its own queue. Not in asynchronous code.
    @available(*, noasync, message: "the thread may change at any await; keep the queue you want")
    public static var `default`: NotificationQueue {
        RunLoop.current.companion(ObjectIdentifier(NotificationQueue.self)) { NotificationQueue() }
    }

    /// Makes a queue for the current loop, in addition to `NotificationQueue.default`.
    ///
    /// If the queue is destroyed while notifications wait in it, the loop still posts them. After it has posted the last one, the
    /// loop releases what it has kept of the queue.
    ///
    /// - Parameter notificationCenter: The center to which the queue posts. The center is kept alive until the queue has been
    ///   destroyed and its last notification has been posted.
    ///
    /// > Thread safety: any thread; the queue belongs to that thread's loop. Not in asynchronous code.
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
        // Safe: from now on only the loop refers to the inner queue, and the loop uses it on its own thread.
        nonisolated(unsafe) let queue = unsafe queue
        runLoop.doLast { unsafe queue.queueWasDestroyed() }
    }

    /// Enqueues a notification to be posted later.
    ///
    /// If you call this on another thread, the call is passed to the loop, and the loop wakes up. The loop carries out the call on
    /// its own thread when it next runs in any mode, or, for ``PostingStyle/now``, in one of `modes`. Everything described below
    /// happens at that time.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - postingStyle: The time at which the notification is posted. ``PostingStyle/now`` removes matching notifications from the
    ///     queue, and then posts this notification before the call returns. However, if the loop is running, but in none of
    ///     `modes`, the notification is not posted at all.
    ///   - coalesceMask: The properties that two notifications must share to match; their styles and modes do not matter. With
    ///     an empty mask no notifications match.
    ///   - survivor: The notification that is posted when several match; ignored for ``PostingStyle/now``.
    ///   - modes: The modes in which the notification can be posted, at least one mode; nil for the default mode. `.common` stands
    ///     for every common mode.
    /// - Returns: False if the loop's thread has ended, so that the notification was discarded without being posted.
    /// - Complexity: O(1), independent of the number of notifications that wait.
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
        // What is reported if the loop never runs.
        let name: StaticString = "notification that another thread has enqueued"
        if postingStyle == .now {
            return runLoop.perform(inModes: modes, fileID: name, line: 0) {
                self.enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
            }
        }
        // The call is performed in every mode. Otherwise calls that one thread makes for different modes could be carried out in
        // another order.
        return runLoop.performInEveryMode(fileID: name, line: 0) {
            self.enqueueHere(notification, postingStyle, coalesceMask, survivor, modes)
        }
    }

    /// Enqueues a notification on the loop's thread.
    ///
    /// - Returns: False if the loop has ended; in that case the notification was not posted.
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
                // The notification was posted, so the result is true even if the thread is ending and the loop has already
                // discarded its work.
                return true
            }
        case .asap: unsafe queue.enqueue(notification, on: queue.asap, mask, survivor, modes)
        case .whenIdle: unsafe queue.enqueue(notification, on: queue.idle, mask, survivor, modes)
        }
        return unsafe !queue.hasEnded
    }

    /// Removes matching notifications from the queue without posting them.
    ///
    /// If this is called on another thread, the call is passed to the loop, which can post some of the notifications before the
    /// loop carries out the call. The call applies to all notifications that the calling thread has enqueued before this call.
    ///
    /// - Parameters:
    ///   - notification: The notification to compare with.
    ///   - coalesceMask: The properties that two notifications must share to match; their styles and modes do not matter. With
    ///     an empty mask nothing is removed.
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

extension NotificationQueue: HashableByIdentity {}

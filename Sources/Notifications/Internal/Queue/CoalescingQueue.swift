internal import RunLoops

/// The inner part of a ``NotificationQueue``, which holds the waiting notifications and merges those that match.
///
/// > Thread safety: the loop's own thread only.
final class CoalescingQueue {
    /// The waiting notifications that are posted at the end of a pass.
    let asap: PostingLine
    /// The waiting notifications that are posted when the loop is about to sleep.
    let idle: PostingLine
    private let contents = QueueContents()

    init(_ center: NotificationCenter) {
        asap = PostingLine(center, contents)
        idle = PostingLine(center, contents)
    }

    var waiting: WaitingNotifications {
        @inline(__always) _read { yield contents.waiting.value }
        @inline(__always) _modify { yield &contents.waiting.value }
    }

    /// True if the loop has ended; the queue then accepts no notification.
    var hasEnded: Bool { asap.hasEnded }

    /// Records that the ``NotificationQueue`` has been destroyed.
    ///
    /// The notifications that wait are still posted. After that, the loop releases ``asap`` and ``idle``.
    func queueWasDestroyed() {
        for line in [asap, idle] { line.queueWasDestroyed() }
    }

    /// Enqueues a notification, or merges it with a matching notification.
    func enqueue(
        _ notification: Notification, on line: PostingLine, _ mask: NotificationQueue.NotificationCoalescing,
        _ survivor: NotificationQueue.Survivor, _ modes: [RunLoop.Mode]
    ) {
        guard let first = waiting.first(matching: notification, mask) else {
            return line.append(notification, modes)
        }
        switch survivor {
        case .first: return
        case .latest:
            // The removed notifications are released after the append. An object that is destroyed with them can enqueue another
            // notification, which must come after this notification.
            let removed = takeAll(matching: notification, mask)
            line.append(notification, modes)
            withExtendedLifetime(removed) {}
        case .merge(let merge):
            guard let old = waiting.notification(first) else { preconditionFailure("what was found waits") }
            let merged = merge(old, notification)
            if merged.name != old.name || merged.sender != old.sender {
                fatalError(
                    "NotificationQueue.enqueue: the merged notification has another name or sender; keep those of the old one"
                )
            }
            if waiting.notification(first) != nil {
                let replaced = waiting.replace(first, with: merged)
                withExtendedLifetime(replaced) {}
            } else {
                // The old notification no longer waits, because the user's closure has caused it to be posted or removed.
                line.append(merged, modes)
            }
        }
    }

    /// Discards all waiting notifications that match a given notification.
    ///
    /// The mask selects what is compared: the name, the sender, or both.
    func remove(matching notification: Notification, _ mask: NotificationQueue.NotificationCoalescing) {
        let removed = takeAll(matching: notification, mask)
        withExtendedLifetime(removed) {}
    }

    /// Removes and returns all waiting notifications that match a given notification.
    ///
    /// The mask selects what is compared: the name, the sender, or both. The caller must release the removed notifications as its
    /// last step, because their destruction can use the queue.
    private func takeAll(
        matching notification: Notification, _ mask: NotificationQueue.NotificationCoalescing
    ) -> [Notification?] {
        var removed: [Notification?] = []
        while let ticket = waiting.first(matching: notification, mask) {
            removed.append(waiting.remove(ticket))
        }
        return removed
    }
}

/// The storage for the waiting notifications of a queue.
///
/// Both of the queue's ``PostingLine`` objects use this storage.
final class QueueContents {
    let waiting = ExclusivityUnchecked(WaitingNotifications())
}

internal import DequeModule

/// Finds what says the same, however many wait.
final class CoalescingIndex {
    private struct NameAndSender: Hashable {
        let name: Notification.Name
        let sender: ObjectIdentifier?
    }

    /// The entries of a key, oldest first.
    ///
    /// Those that are not queued any more go when they come to the front.
    private struct Bucket {
        private var entries = Deque<QueueEntry>()

        mutating func append(_ entry: QueueEntry) { entries.append(entry) }

        mutating func first() -> QueueEntry? {
            while let entry = entries.first, !entry.isQueued { entries.removeFirst() }
            return entries.first
        }
    }

    private var byName: [Notification.Name: Bucket] = [:]
    private var bySender: [ObjectIdentifier?: Bucket] = [:]
    private var byBoth: [NameAndSender: Bucket] = [:]

    func add(_ entry: QueueEntry) {
        let notification = entry.notification
        byName[notification.name, default: Bucket()].append(entry)
        bySender[notification.sender, default: Bucket()].append(entry)
        let both = NameAndSender(name: notification.name, sender: notification.sender)
        byBoth[both, default: Bucket()].append(entry)
    }

    /// The oldest entry that is like a notification.
    func first(like notification: Notification, _ mask: NotificationQueue.NotificationCoalescing)
        -> QueueEntry?
    {
        switch (mask.contains(.onName), mask.contains(.onSender)) {
        case (true, true):
            return first(in: &byBoth, NameAndSender(name: notification.name, sender: notification.sender))
        case (true, false): return first(in: &byName, notification.name)
        case (false, true): return first(in: &bySender, notification.sender)
        case (false, false): return nil
        }
    }

    private func first<Key>(in buckets: inout [Key: Bucket], _ key: Key) -> QueueEntry? {
        guard let index = buckets.index(forKey: key) else { return nil }
        if let entry = buckets.values[index].first() { return entry }
        buckets.remove(at: index)
        return nil
    }

    func remove(_ entry: QueueEntry) {
        entry.isQueued = false
        // Sweeps its buckets, so that keys that are not used again do not stay.
        let notification = entry.notification
        _ = first(in: &byName, notification.name)
        _ = first(in: &bySender, notification.sender)
        _ = first(in: &byBoth, NameAndSender(name: notification.name, sender: notification.sender))
    }

    /// Puts another notification in an entry's place.
    func replaceNotification(of entry: QueueEntry, with notification: Notification) {
        let old = entry.notification
        if old.name != notification.name || old.sender != notification.sender {
            fatalError(
                "NotificationQueue.enqueue: the merged notification has another name or sender; keep those of the old one"
            )
        }
        entry.notification = notification
    }
}

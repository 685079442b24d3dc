/// Finds what says the same, however many wait.
final class CoalescingIndex {
    private struct NameAndSender: Hashable {
        let name: Notification.Name
        let sender: ObjectIdentifier?
    }

    private var byName: [Notification.Name: EntryList] = [:]
    private var bySender: [ObjectIdentifier?: EntryList] = [:]
    private var byBoth: [NameAndSender: EntryList] = [:]

    /// How many entries were looked at so far: what all operations have cost.
    private(set) var examinedCount = 0

    func add(_ entry: QueueEntry) {
        byName[entry.name, default: EntryList()].append(entry)
        bySender[entry.sender, default: EntryList()].append(entry)
        byBoth[NameAndSender(name: entry.name, sender: entry.sender), default: EntryList()].append(entry)
    }

    /// The oldest entry that is like a notification.
    func first(like notification: Notification, _ mask: NotificationQueue.NotificationCoalescing)
        -> QueueEntry?
    {
        examinedCount += 1
        switch (mask.contains(.onName), mask.contains(.onSender)) {
        case (true, true):
            return byBoth[NameAndSender(name: notification.name, sender: notification.sender)]?.first
        case (true, false): return byName[notification.name]?.first
        case (false, true): return bySender[notification.sender]?.first
        case (false, false): return nil
        }
    }

    /// Takes an entry out of the queue.
    ///
    /// - Returns: Its notification, which the caller lets go of when it is done: what goes with it may be user
    ///   code's, and may use the queue.
    func remove(_ entry: QueueEntry) -> Notification? {
        let notification = entry.takeNotification()
        entry.track.entries.didRemoveOne(&examinedCount)
        didRemoveOne(from: &byName, entry.name)
        didRemoveOne(from: &bySender, entry.sender)
        didRemoveOne(from: &byBoth, NameAndSender(name: entry.name, sender: entry.sender))
        return notification
    }

    private func didRemoveOne<Key>(from lists: inout [Key: EntryList], _ key: Key) {
        guard let index = lists.index(forKey: key) else { return }
        lists.values[index].didRemoveOne(&examinedCount)
        // Keys that are not used again do not stay.
        if lists.values[index].first == nil { lists.remove(at: index) }
    }
}

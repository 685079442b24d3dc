internal import DequeModule

/// A notification that waits to be posted.
final class QueueEntry {
    let name: Notification.Name
    let sender: ObjectIdentifier?
    /// Its place among all entries of the line.
    let sequence: Int
    /// Holds the entry while it waits, and lives as long as its line.
    unowned let track: QueueTrack

    /// Nil once it was posted or taken out: then the entry is only waiting to be swept up.
    private(set) var notification: Notification?

    var isQueued: Bool { notification != nil }

    init(_ notification: Notification, sequence: Int, track: QueueTrack) {
        name = notification.name
        sender = notification.sender
        self.notification = notification
        self.sequence = sequence
        self.track = track
    }

    /// Ends the entry.
    ///
    /// - Returns: The notification.
    func takeNotification() -> Notification? { exchangeNotification(nil) }

    /// Puts another notification in the place of the one that waits.
    ///
    /// - Returns: The one that waited. Were it let go of in here, what goes with it could find the entry half changed.
    func exchangeNotification(_ new: Notification?) -> Notification? {
        let old = notification
        notification = new
        return old
    }
}

/// Entries in order.
///
/// Some are not queued any more. They go when they come to the front, or when they are as many as the others: what is kept
/// is never more than twice what waits. They hold nothing of the user's, so he sees nothing of that.
struct EntryList {
    private var entries = Deque<QueueEntry>()
    private var staleCount = 0

    /// The oldest that is queued.
    var first: QueueEntry? { entries.first }

    /// How many are kept, queued or not.
    var count: Int { entries.count }

    mutating func append(_ entry: QueueEntry) { entries.append(entry) }

    /// One of the entries is not queued any more.
    ///
    /// - Parameter examinedCount: Counts the entries that are looked at.
    mutating func didRemoveOne(_ examinedCount: inout Int) {
        staleCount += 1
        examinedCount += 1
        while let entry = entries.first, !entry.isQueued {
            entries.removeFirst()
            staleCount -= 1
            examinedCount += 1
        }
        if staleCount * 2 > entries.count {
            examinedCount += entries.count
            entries.removeAll { !$0.isQueued }
            staleCount = 0
        }
    }
}

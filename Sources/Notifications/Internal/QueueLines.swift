internal import DequeModule
internal import RunLoops

/// What a notification queue has to post: one line for the end of a pass, one for idle time.
///
/// > Thread safety: the loop's own thread only.
final class QueueLines {
    let asap: QueueLine
    let idle: QueueLine
    private let index: CoalescingIndex

    init(_ center: NotificationCenter) {
        index = CoalescingIndex()
        asap = QueueLine(center, index)
        idle = QueueLine(center, index)
    }

    func enqueue(
        _ notification: Notification, on line: QueueLine, _ mask: NotificationQueue.NotificationCoalescing,
        _ survivor: NotificationQueue.Survivor, _ modes: [RunLoop.Mode]
    ) {
        if let first = index.first(like: notification, mask) {
            switch survivor {
            case .first: return
            case .latest: remove(like: notification, mask)
            case .merge(let merge):
                index.replaceNotification(of: first, with: merge(first.notification, notification))
                return
            }
        }
        line.append(notification, modes)
    }

    func remove(like notification: Notification, _ mask: NotificationQueue.NotificationCoalescing) {
        while let entry = index.first(like: notification, mask) { index.remove(entry) }
    }
}

/// A notification that waits to be posted.
final class QueueEntry {
    var notification: Notification
    /// Its place among all entries of the line.
    let sequence: Int
    /// False once it was posted or taken out: then it is only waiting to be swept up.
    var isQueued = true

    init(_ notification: Notification, sequence: Int) {
        self.notification = notification
        self.sequence = sequence
    }
}

/// Entries of one posting style, first come, first posted.
final class QueueLine: DeferredWork {
    /// The entries for one list of modes, in order.
    private struct Track {
        let modes: [RunLoop.Mode]
        var entries = Deque<QueueEntry>()

        /// The oldest entry that was not taken out.
        mutating func first() -> QueueEntry? {
            while let entry = entries.first, !entry.isQueued { entries.removeFirst() }
            return entries.first
        }

        func runs(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
            modes.contains { $0 == mode || isCommon && $0 == .common }
        }
    }

    /// One for each list of modes that was ever named: a handful.
    private var tracks: [Track] = []
    private var nextSequence = 0
    private let center: NotificationCenter
    private let index: CoalescingIndex

    init(_ center: NotificationCenter, _ index: CoalescingIndex) {
        self.center = center
        self.index = index
    }

    func append(_ notification: Notification, _ modes: [RunLoop.Mode]) {
        let entry = QueueEntry(notification, sequence: nextSequence)
        nextSequence += 1
        index.add(entry)
        if let position = tracks.firstIndex(where: { $0.modes == modes }) {
            tracks[position].entries.append(entry)
        } else {
            tracks.append(Track(modes: modes, entries: [entry]))
        }
    }

    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        next(in: mode, isCommon) != nil
    }

    func performWork(for mode: RunLoop.Mode, isCommon: Bool) {
        // One by one out of the line, and not all at once: an observer that runs the loop goes on with the next.
        let end = nextSequence
        while let position = next(in: mode, isCommon), let entry = tracks[position].entries.first,
            entry.sequence < end
        {
            tracks[position].entries.removeFirst()
            index.remove(entry)
            center.post(entry.notification)
        }
    }

    /// The track whose first entry is the next in this mode.
    private func next(in mode: RunLoop.Mode, _ isCommon: Bool) -> Int? {
        var found: (position: Int, sequence: Int)?
        for position in tracks.indices where tracks[position].runs(in: mode, isCommon: isCommon) {
            guard let sequence = tracks[position].first()?.sequence else { continue }
            if sequence < found?.sequence ?? .max { found = (position, sequence) }
        }
        return found?.position
    }
}

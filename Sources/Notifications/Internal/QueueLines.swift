internal import RunLoops

/// What a notification queue has to post: one line for the end of a pass, one for idle time.
///
/// > Thread safety: the loop's own thread only.
final class QueueLines {
    let asap: QueueLine
    let idle: QueueLine
    let index: CoalescingIndex

    init(_ center: NotificationCenter) {
        index = CoalescingIndex()
        asap = QueueLine(center, index)
        idle = QueueLine(center, index)
    }

    /// The loop has ended, and nothing is taken in any more.
    var hasEnded: Bool { asap.hasEnded }

    func enqueue(
        _ notification: Notification, on line: QueueLine, _ mask: NotificationQueue.NotificationCoalescing,
        _ survivor: NotificationQueue.Survivor, _ modes: [RunLoop.Mode]
    ) {
        guard let first = index.first(like: notification, mask), let old = first.notification else {
            return line.append(notification, modes)
        }
        switch survivor {
        case .first: return
        case .latest:
            // Those that make room go last: what goes with them may enqueue, and comes after this one.
            let removed = take(like: notification, mask)
            line.append(notification, modes)
            withExtendedLifetime(removed) {}
        case .merge(let merge):
            let merged = merge(old, notification)
            if merged.name != old.name || merged.sender != old.sender {
                fatalError(
                    "NotificationQueue.enqueue: the merged notification has another name or sender; keep those of the old one"
                )
            }
            if first.isQueued {
                let replaced = first.exchangeNotification(merged)
                withExtendedLifetime(replaced) {}
            } else {
                // The merging itself has had it posted or taken out.
                line.append(merged, modes)
            }
        }
    }

    func remove(like notification: Notification, _ mask: NotificationQueue.NotificationCoalescing) {
        let removed = take(like: notification, mask)
        withExtendedLifetime(removed) {}
    }

    /// Takes out all that are alike; what goes with them goes when the caller lets go of them.
    private func take(like notification: Notification, _ mask: NotificationQueue.NotificationCoalescing)
        -> [Notification?]
    {
        var removed: [Notification?] = []
        while let entry = index.first(like: notification, mask) { removed.append(index.remove(entry)) }
        return removed
    }
}

/// The entries for one list of modes, in order.
final class QueueTrack {
    let modes: [RunLoop.Mode]
    var entries = EntryList()

    init(_ modes: [RunLoop.Mode]) { self.modes = modes }

    func runs(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        modes.contains { $0 == mode || isCommon && $0 == .common }
    }
}

/// Entries of one posting style, first come, first posted.
final class QueueLine: DeferredWork {
    /// One for each list of modes that was ever named: a handful.
    private var tracks: [QueueTrack] = []
    private var nextSequence = 0
    /// The loop has ended, and nothing is taken in any more.
    private(set) var hasEnded = false
    private let center: NotificationCenter
    private let index: CoalescingIndex

    init(_ center: NotificationCenter, _ index: CoalescingIndex) {
        self.center = center
        self.index = index
    }

    func append(_ notification: Notification, _ modes: [RunLoop.Mode]) {
        if hasEnded { return }
        let track = track(for: modes)
        let entry = QueueEntry(notification, sequence: nextSequence, track: track)
        nextSequence += 1
        index.add(entry)
        track.entries.append(entry)
    }

    private func track(for modes: [RunLoop.Mode]) -> QueueTrack {
        if let known = tracks.first(where: { $0.modes == modes }) { return known }
        let track = QueueTrack(modes)
        tracks.append(track)
        return track
    }

    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        next(in: mode, isCommon) != nil
    }

    func performWork(for mode: RunLoop.Mode, isCommon: Bool) {
        // One by one out of the line, and not all at once: an observer that runs the loop goes on with the next.
        let end = nextSequence
        while let entry = next(in: mode, isCommon), entry.sequence < end {
            if let notification = index.remove(entry) { center.post(notification) }
        }
    }

    func discardWork() {
        hasEnded = true
        var removed: [Notification?] = []
        for track in tracks {
            while let entry = track.entries.first { removed.append(index.remove(entry)) }
        }
        tracks = []
        withExtendedLifetime(removed) {}
    }

    /// The next entry to be posted in this mode.
    private func next(in mode: RunLoop.Mode, _ isCommon: Bool) -> QueueEntry? {
        var found: QueueEntry?
        for track in tracks where track.runs(in: mode, isCommon: isCommon) {
            guard let entry = track.entries.first else { continue }
            if entry.sequence < found?.sequence ?? .max { found = entry }
        }
        return found
    }
}

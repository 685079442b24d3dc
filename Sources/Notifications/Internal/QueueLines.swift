internal import RunLoops

/// What a notification queue has to post: one line for the end of a pass, one for idle time.
///
/// > Thread safety: the loop's own thread only.
final class QueueLines {
    let asap: QueueLine
    let idle: QueueLine
    private let shared = QueueContents()

    init(_ center: NotificationCenter) {
        asap = QueueLine(center, shared)
        idle = QueueLine(center, shared)
    }

    var waiting: WaitingNotifications {
        @inline(__always) _read { yield shared.waiting.value }
        @inline(__always) _modify { yield &shared.waiting.value }
    }

    /// The loop has ended, and nothing is taken in any more.
    var hasEnded: Bool { asap.hasEnded }

    /// Nobody can enqueue any more: what waits is posted, and then the loop forgets the lines.
    func queueHasGone() {
        for line in [asap, idle] { line.queueHasGone() }
    }

    func enqueue(
        _ notification: Notification, on line: QueueLine, _ mask: NotificationQueue.NotificationCoalescing,
        _ survivor: NotificationQueue.Survivor, _ modes: [RunLoop.Mode]
    ) {
        guard let first = waiting.first(like: notification, mask) else {
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
        while let ticket = waiting.first(like: notification, mask) { removed.append(waiting.remove(ticket)) }
        return removed
    }
}

/// What waits in a queue, which its two lines share.
final class QueueContents {
    let waiting = ExclusivityUnchecked(WaitingNotifications())
}

/// What waits with one posting style, first come, first posted.
final class QueueLine: DeferredWork {
    /// One for each list of modes that was ever named: a handful.
    private var tracks: [Int] = []
    /// The loop has ended, and nothing is taken in any more.
    private(set) var hasEnded = false
    /// Nothing is appended any more.
    private var queueIsGone = false
    private let center: NotificationCenter
    private let shared: QueueContents

    init(_ center: NotificationCenter, _ shared: QueueContents) {
        self.center = center
        self.shared = shared
    }

    private var waiting: WaitingNotifications {
        @inline(__always) _read { yield shared.waiting.value }
        @inline(__always) _modify { yield &shared.waiting.value }
    }

    func append(_ notification: Notification, _ modes: [RunLoop.Mode]) {
        if hasEnded { return }
        waiting.append(notification, toTrack: track(for: modes))
    }

    private func track(for modes: [RunLoop.Mode]) -> Int {
        if let known = tracks.first(where: { waiting.track($0).modes == modes }) { return known }
        let track = waiting.addTrack(modes)
        tracks.append(track)
        return track
    }

    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        next(in: mode, isCommon) != nil
    }

    func performWork(for mode: RunLoop.Mode, isCommon: Bool) {
        // One by one out of the line, and not all at once: an observer that runs the loop goes on with the next.
        let end = waiting.end
        while let ticket = next(in: mode, isCommon), ticket.sequence < end {
            if let notification = waiting.remove(ticket) { center.post(notification) }
        }
        if queueIsGone { leaveLoopIfEmpty() }
    }

    func queueHasGone() {
        queueIsGone = true
        leaveLoopIfEmpty()
    }

    private func leaveLoopIfEmpty() {
        if tracks.allSatisfy({ waiting.first(inTrack: $0) == nil }) {
            RunLoop.current.removeDeferredWork(self)
        }
    }

    func discardWork() {
        hasEnded = true
        var removed: [Notification?] = []
        for track in tracks {
            while let ticket = waiting.first(inTrack: track) { removed.append(waiting.remove(ticket)) }
        }
        withExtendedLifetime(removed) {}
    }

    /// The next one to be posted in this mode.
    private func next(in mode: RunLoop.Mode, _ isCommon: Bool) -> WaitingNotifications.Ticket? {
        var found: WaitingNotifications.Ticket?
        for track in tracks where waiting.track(track).runs(in: mode, isCommon: isCommon) {
            guard let ticket = waiting.first(inTrack: track) else { continue }
            if ticket.sequence < found?.sequence ?? .max { found = ticket }
        }
        return found
    }
}

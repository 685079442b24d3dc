internal import RunLoops

/// The waiting notifications of one queue and one posting style.
///
/// They are posted in the order in which they were enqueued.
///
/// > Thread safety: the loop's own thread only.
final class PostingLine: DeferredWork {
    /// The minimum number of empty groups for which `removeUnusedGroups()` has an effect.
    private static var unusedGroupLimit: Int { 4 }

    /// The groups of these notifications, one for each list of modes; each element is an index in ``WaitingNotifications``.
    private(set) var groups: [Int] = []
    /// True once the loop has ended; nothing is appended after that.
    private(set) var hasEnded = false
    /// True once the ``NotificationQueue`` has been destroyed; nothing is appended after that.
    private var queueIsDestroyed = false
    private let center: NotificationCenter
    private let contents: QueueContents

    init(_ center: NotificationCenter, _ contents: QueueContents) {
        self.center = center
        self.contents = contents
    }

    private var waiting: WaitingNotifications {
        @inline(__always) _read { yield contents.waiting.value }
        @inline(__always) _modify { yield &contents.waiting.value }
    }

    func append(_ notification: Notification, _ modes: [RunLoop.Mode]) {
        if hasEnded { return }
        waiting.append(notification, toGroup: group(for: modes))
    }

    private func group(for modes: [RunLoop.Mode]) -> Int {
        if let known = groups.first(where: { waiting.group($0).modes == modes }) { return known }
        removeUnusedGroups()
        let group = waiting.addGroup(modes)
        groups.append(group)
        return group
    }

    /// Removes the empty groups if there are at least `unusedGroupLimit` of them.
    private func removeUnusedGroups() {
        if groups.count < Self.unusedGroupLimit { return }
        let unused = groups.filter { waiting.group($0).isEmpty }
        if unused.count < Self.unusedGroupLimit { return }
        groups.removeAll { waiting.group($0).isEmpty }
        for group in unused { waiting.removeGroup(group) }
    }

    func queueWasDestroyed() {
        queueIsDestroyed = true
        leaveLoopIfEmpty()
    }

    private func leaveLoopIfEmpty() {
        if groups.allSatisfy({ waiting.group($0).isEmpty }) { RunLoop.current.removeDeferredWork(self) }
    }

    // MARK: - Deferred work of the loop

    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        next(in: mode, isCommon) != nil
    }

    func performWork(for mode: RunLoop.Mode, isCommon: Bool) {
        // Notifications are removed one by one, each just before it is posted. So if the handler of an observer runs the loop, that
        // run posts the next notification.
        let end = waiting.end
        while let ticket = next(in: mode, isCommon), ticket.sequence < end {
            if let notification = waiting.remove(ticket) { center.post(notification) }
        }
        removeUnusedGroups()
        if queueIsDestroyed { leaveLoopIfEmpty() }
    }

    var waitingParts: [String] {
        let slots = waiting.slots.filter { $0.notification != nil && groups.contains($0.group) }
        return slots.sorted { $0.sequence < $1.sequence }.compactMap(\.notification).map {
            "notification \($0) that waits in a NotificationQueue"
        }
    }

    func discardWork() {
        hasEnded = true
        var removed: [Notification?] = []
        for group in groups {
            while let ticket = waiting.first(inGroup: group) { removed.append(waiting.remove(ticket)) }
        }
        withExtendedLifetime(removed) {}
    }

    /// Returns the ticket of the notification that is posted next in a mode; nil if there is none.
    private func next(in mode: RunLoop.Mode, _ isCommon: Bool) -> WaitingNotifications.Ticket? {
        var found: WaitingNotifications.Ticket?
        for group in groups where waiting.group(group).runs(in: mode, isCommon: isCommon) {
            guard let ticket = waiting.first(inGroup: group) else { continue }
            if ticket.sequence < found?.sequence ?? .max { found = ticket }
        }
        return found
    }
}

/// The search for the oldest waiting notification that matches a given one.
///
/// The time of a search does not depend on the number of waiting notifications.
extension WaitingNotifications {
    typealias Mask = NotificationQueue.NotificationCoalescing

    /// The largest number of buckets that a search for a waiting notification looks at.
    ///
    /// The getter visits all buckets.
    var longestSearch: Int { tables.indices.reduce(0) { max($0, tables[$1]?.longestSearch ?? 0) } }

    /// Returns the ticket of the oldest waiting notification that matches the given one; nil if none matches, or if the mask is
    /// empty.
    mutating func first(matching notification: Notification, _ mask: Mask) -> Ticket? {
        guard let kind = mask.index else { return nil }
        if tables[kind] == nil { makeTable(kind) }
        return oldest(matching: notification, kind, hash: mask.hash(notification)).flatMap { ticket($0) }
    }

    @inline(__always)
    private func oldest(matching notification: Notification, _ kind: Int, hash: UInt32) -> UInt32? {
        let mask = Mask(index: kind)
        let index = tables[kind]?.index(of: hash) { slot in
            mask.matches(
                notification, name: self[slot].notification?.name, sender: self[slot].notification?.sender)
        }
        return index.flatMap { tables[kind]?[$0] }
    }

    /// Makes the table for a mask that is used for the first time, and adds the waiting notifications to it, oldest first.
    @inline(never)
    private mutating func makeTable(_ kind: Int) {
        tables[kind] = CoalescingTable()
        let waiting = slots.indices.filter { slots[$0].notification != nil }
        for slot in waiting.sorted(by: { slots[$0].sequence < slots[$1].sequence }) {
            join(kind, UInt32(slot))
        }
    }

    /// Adds the newest notification, which is in `slot`, to the lists of matching notifications.
    ///
    /// It is added to one list for each mask that has been used.
    @inline(__always)
    mutating func joinMatching(_ slot: UInt32) {
        for kind in tables.indices where tables[kind] != nil { join(kind, slot) }
    }

    /// Removes the notification in `slot` from the lists of matching notifications.
    ///
    /// It is in one list for each mask that has been used.
    @inline(__always)
    mutating func leaveMatching(_ slot: UInt32) {
        for kind in tables.indices where tables[kind] != nil { leave(kind, slot) }
    }

    private mutating func join(_ kind: Int, _ slot: UInt32) {
        guard let notification = self[slot].notification else { return }
        let hash = Mask(index: kind).hash(notification)
        guard let oldest = oldest(matching: notification, kind, hash: hash) else {
            self[slot].matching[kind] = Links(older: slot, newer: slot)
            tables[kind]?.insert(slot, hash: hash)
            return
        }
        let newest = self[oldest].matching[kind].older
        self[slot].matching[kind] = Links(older: newest, newer: oldest)
        self[newest].matching[kind].newer = slot
        self[oldest].matching[kind].older = slot
    }

    private mutating func leave(_ kind: Int, _ slot: UInt32) {
        guard let notification = self[slot].notification else { return }
        let links = self[slot].matching[kind]
        // The list is a ring, in which the newest notification precedes the oldest. So only the oldest notification has a
        // predecessor that is not older.
        if links.older == slot || self[links.older].sequence > self[slot].sequence {
            let hash = Mask(index: kind).hash(notification)
            guard let index = tables[kind]?.index(of: hash, where: { $0 == slot }) else {
                preconditionFailure("the table has the oldest of each set")
            }
            if links.older == slot {
                tables[kind]?.remove(at: index)
            } else {
                tables[kind]?[index] = links.newer
            }
        }
        self[links.older].matching[kind].newer = links.newer
        self[links.newer].matching[kind].older = links.older
    }
}

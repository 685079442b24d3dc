internal import RunLoops

/// The notifications that wait in a queue, in the order in which they were enqueued.
///
/// Each notification has a slot, and is in several lists. One list is that of its group: the notifications with the same posting
/// style and modes. For each mask that has been used so far, another list holds the notifications that match each other under the
/// mask. The lists are links between slots, so a notification can be removed from all of its lists without a walk through any list.
///
/// This is a value, for use on one thread.
struct WaitingNotifications {
    /// The waiting notifications that have one posting style and one list of modes.
    struct Group {
        let modes: [RunLoop.Mode]
        fileprivate var oldest = Slot.none
        fileprivate var newest = Slot.none

        var isEmpty: Bool { oldest == Slot.none }

        /// True if the group's notifications may be posted in a mode.
        func runs(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
            modes.contains { $0 == mode || isCommon && $0 == .common }
        }
    }

    /// The identity of a waiting notification; valid while the notification waits.
    struct Ticket: Equatable {
        fileprivate let slot: UInt32
        /// A number that increases with each notification that is enqueued.
        let sequence: Int
    }

    /// The neighbors of a slot in a list.
    struct Links {
        var older = Slot.none
        var newer = Slot.none
    }

    struct Slot {
        static var none: UInt32 { .max }

        /// The waiting notification; nil in a free slot.
        var notification: Notification?
        var sequence = 0
        var group = 0
        /// The neighbors in the list of the notification's group; in a free slot, `newer` is the next free slot.
        var inGroup = Links()
        /// The neighbors in the lists of matching notifications, one list for each mask.
        ///
        /// Each list is a ring, in which the newest notification precedes the oldest.
        var matching = InlineArray<3, Links>(repeating: Links())
    }

    var slots = ContiguousArray<Slot>()
    private var firstFree = Slot.none
    private var groups: [Group] = []
    private var freeGroups: [Int] = []
    private var nextSequence = 0
    /// The number of notifications that wait.
    private(set) var count = 0

    /// For each mask, the table in which matching notifications are found; nil until the mask is used.
    ///
    /// If several waiting notifications match each other under the mask, the table contains only the oldest of them.
    var tables = InlineArray<3, CoalescingTable?>(repeating: nil)

    /// The sequence number that the next notification will have.
    var end: Int { nextSequence }

    subscript(slot: UInt32) -> Slot {
        @inline(__always) _read { yield slots[Int(slot)] }
        @inline(__always) _modify { yield &slots[Int(slot)] }
    }

    /// The ticket of the notification in a slot; nil for ``Slot/none``.
    func ticket(_ slot: UInt32) -> Ticket? {
        slot == Slot.none ? nil : Ticket(slot: slot, sequence: self[slot].sequence)
    }

    // MARK: - Groups

    /// Makes a group for a list of modes, and returns the group's index.
    mutating func addGroup(_ modes: [RunLoop.Mode]) -> Int {
        if let free = freeGroups.popLast() {
            groups[free] = Group(modes: modes)
            return free
        }
        groups.append(Group(modes: modes))
        return groups.count - 1
    }

    /// Removes a group that has no notifications, and frees the group's index for another group.
    mutating func removeGroup(_ index: Int) {
        precondition(groups[index].isEmpty, "a group with notifications is needed to post them")
        groups[index] = Group(modes: [])
        freeGroups.append(index)
        if freeGroups.count == groups.count { (groups, freeGroups) = ([], []) }
    }

    func group(_ index: Int) -> Group { groups[index] }

    /// The ticket of the oldest notification of a group; nil if the group is empty.
    func first(inGroup index: Int) -> Ticket? { ticket(groups[index].oldest) }

    // MARK: - Adding and removing

    /// Adds a notification to a group, after all other waiting notifications.
    @discardableResult
    mutating func append(_ notification: Notification, toGroup index: Int) -> Ticket {
        let slot = takeSlot()
        self[slot].notification = notification
        self[slot].sequence = nextSequence
        self[slot].group = index
        nextSequence += 1
        count += 1
        let newest = groups[index].newest
        self[slot].inGroup = Links(older: newest, newer: Slot.none)
        if newest == Slot.none {
            groups[index].oldest = slot
        } else {
            self[newest].inGroup.newer = slot
        }
        groups[index].newest = slot
        joinMatching(slot)
        return Ticket(slot: slot, sequence: self[slot].sequence)
    }

    private mutating func takeSlot() -> UInt32 {
        if firstFree == Slot.none {
            slots.append(Slot())
            return UInt32(slots.count - 1)
        }
        defer { firstFree = self[firstFree].inGroup.newer }
        return firstFree
    }

    /// Returns the notification that a ticket identifies, or nil if it no longer waits.
    func notification(_ ticket: Ticket) -> Notification? {
        guard Int(ticket.slot) < slots.count, self[ticket.slot].sequence == ticket.sequence else {
            return nil
        }
        return self[ticket.slot].notification
    }

    /// Replaces a waiting notification with a notification that has the same name and sender.
    ///
    /// - Returns: The notification that was replaced. The caller must release it as its last step, because it can hold objects of
    ///   the user, and their `deinit` can use this queue.
    mutating func replace(_ ticket: Ticket, with notification: Notification) -> Notification? {
        let old = self[ticket.slot].notification
        self[ticket.slot].notification = notification
        return old
    }

    /// Removes a waiting notification.
    ///
    /// - Returns: The notification, which the caller must release as its last step, as for ``replace(_:with:)``.
    mutating func remove(_ ticket: Ticket) -> Notification? {
        let slot = ticket.slot
        leaveMatching(slot)
        let links = self[slot].inGroup
        let group = self[slot].group
        if links.older == Slot.none {
            groups[group].oldest = links.newer
        } else {
            self[links.older].inGroup.newer = links.newer
        }
        if links.newer == Slot.none {
            groups[group].newest = links.older
        } else {
            self[links.newer].inGroup.older = links.older
        }
        let notification = self[slot].notification
        self[slot].notification = nil
        self[slot].inGroup.newer = firstFree
        firstFree = slot
        count -= 1
        if count == 0 && slots.count > 1024 {
            // Frees the memory that a burst of notifications has used.
            slots = []
            firstFree = Slot.none
        }
        return notification
    }
}

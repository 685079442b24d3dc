internal import RunLoops

/// The notifications that wait in a queue, in the order of enqueuing.
///
/// Each has a slot, and is in a list for each way to ask for it: the list of its group, which are those with the same style
/// and modes, and one list for each mask that some enqueuing has named, which are those that match it. The lists are links
/// between slots, so that taking a notification out of all of them takes no search.
///
/// A value, for one thread.
struct WaitingNotifications {
    /// The notifications with one posting style and one list of modes.
    struct Group {
        let modes: [RunLoop.Mode]
        fileprivate var oldest = Slot.none
        fileprivate var newest = Slot.none

        var isEmpty: Bool { oldest == Slot.none }

        /// True if its notifications may be posted in a mode.
        func runs(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
            modes.contains { $0 == mode || isCommon && $0 == .common }
        }
    }

    /// The identity of a waiting notification; valid while the notification waits.
    struct Ticket: Equatable {
        fileprivate let slot: UInt32
        /// The number of the notification, in the order of enqueuing.
        let sequence: Int
    }

    /// The neighbors of a slot in a list.
    struct Links {
        var older = Slot.none
        var newer = Slot.none
    }

    struct Slot {
        static var none: UInt32 { .max }

        /// Nil in a free slot.
        var notification: Notification?
        var sequence = 0
        var group = 0
        /// The list of the group; in a free slot `newer` is the next free slot.
        var inGroup = Links()
        /// The lists of matching notifications, one for each mask.
        ///
        /// They are rings: the newest comes before the oldest.
        var matching = InlineArray<3, Links>(repeating: Links())
    }

    var slots = ContiguousArray<Slot>()
    private var firstFree = Slot.none
    private var groups: [Group] = []
    private var freeGroups: [Int] = []
    private var nextSequence = 0
    /// The number of notifications that wait.
    private(set) var count = 0

    /// For each mask the oldest of each set of matching notifications; nil until some enqueuing names the mask.
    var tables = InlineArray<3, CoalescingTable?>(repeating: nil)

    /// The number of the next notification.
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

    /// Makes a group for a list of modes.
    mutating func addGroup(_ modes: [RunLoop.Mode]) -> Int {
        if let free = freeGroups.popLast() {
            groups[free] = Group(modes: modes)
            return free
        }
        groups.append(Group(modes: modes))
        return groups.count - 1
    }

    /// Removes an empty group, and frees its number for another one.
    mutating func removeGroup(_ index: Int) {
        precondition(groups[index].isEmpty, "a group with notifications is needed to post them")
        groups[index] = Group(modes: [])
        freeGroups.append(index)
        if freeGroups.count == groups.count { (groups, freeGroups) = ([], []) }
    }

    func group(_ index: Int) -> Group { groups[index] }

    /// The oldest notification of a group.
    func first(inGroup index: Int) -> Ticket? { ticket(groups[index].oldest) }

    // MARK: - Adding and removing

    /// Adds a notification, last in order.
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

    /// The notification of a ticket, or nil if it does not wait any more.
    func notification(_ ticket: Ticket) -> Notification? {
        guard Int(ticket.slot) < slots.count, self[ticket.slot].sequence == ticket.sequence else {
            return nil
        }
        return self[ticket.slot].notification
    }

    /// Replaces a waiting notification with one of the same name and sender.
    ///
    /// - Returns: The notification that waited. The caller releases it last: it may hold objects of the user, whose
    ///   destruction may use the queue.
    mutating func replace(_ ticket: Ticket, with notification: Notification) -> Notification? {
        let old = self[ticket.slot].notification
        self[ticket.slot].notification = notification
        return old
    }

    /// Takes a waiting notification out.
    ///
    /// - Returns: The notification, which the caller releases last, as for ``replace(_:with:)``.
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
            // Frees the memory of a burst.
            slots = []
            firstFree = Slot.none
        }
        return notification
    }
}

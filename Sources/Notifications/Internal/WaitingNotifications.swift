internal import RunLoops

/// What waits in a notification queue, in the order of enqueuing, found by what it says.
///
/// Each one that waits has a slot, and is in as many lists as it can be asked for by: that of its track, which has those that
/// are posted in the same way and modes, and one for each combination of name and sender that some enqueuing has asked for,
/// which has those that say the same. The lists are links from slot to slot, so that leaving them all takes no search.
///
/// A value, for one thread.
struct WaitingNotifications {
    /// A list of those that are posted in the same way, in the same modes.
    struct Track {
        let modes: [RunLoop.Mode]
        fileprivate var oldest = Slot.none
        fileprivate var newest = Slot.none

        func runs(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
            modes.contains { $0 == mode || isCommon && $0 == .common }
        }
    }

    /// One that waits; worth something only while it does.
    struct Ticket: Equatable {
        fileprivate let place: UInt32
        /// The order of enqueuing.
        let sequence: Int
    }

    /// The neighbours in a list.
    fileprivate struct Links {
        var older = Slot.none
        var newer = Slot.none
    }

    fileprivate struct Slot {
        static var none: UInt32 { .max }

        /// Nil in a free slot.
        var notification: Notification?
        var sequence = 0
        var track = 0
        /// The list of the track; in a free slot the next free one.
        var inTrack = Links()
        /// The lists of those that say the same, one for each mask: rings, in which the newest comes before the oldest.
        var alike = InlineArray<3, Links>(repeating: Links())
    }

    typealias Mask = NotificationQueue.NotificationCoalescing

    private var slots = ContiguousArray<Slot>()
    private var firstFree = Slot.none
    private var tracks: [Track] = []
    private var nextSequence = 0
    /// How many wait.
    private(set) var count = 0

    /// The oldest of those that say the same, one table for each mask; made when it is first asked for.
    private var tables = InlineArray<3, CoalescingTable?>(repeating: nil)

    /// The most places that a search looks at.
    ///
    /// Looks at all.
    var longestSearch: Int { tables.indices.reduce(0) { max($0, tables[$1]?.longestSearch ?? 0) } }

    /// The sequence of the next one.
    var end: Int { nextSequence }

    private subscript(place: UInt32) -> Slot {
        @inline(__always) _read { yield slots[Int(place)] }
        @inline(__always) _modify { yield &slots[Int(place)] }
    }

    // MARK: - Tracks

    /// Makes a track.
    mutating func addTrack(_ modes: [RunLoop.Mode]) -> Int {
        tracks.append(Track(modes: modes))
        return tracks.count - 1
    }

    func track(_ index: Int) -> Track { tracks[index] }

    /// The oldest one of a track.
    func first(inTrack index: Int) -> Ticket? { ticket(tracks[index].oldest) }

    private func ticket(_ place: UInt32) -> Ticket? {
        place == Slot.none ? nil : Ticket(place: place, sequence: self[place].sequence)
    }

    // MARK: - Adding, finding, taking out

    /// Adds one, last in order.
    @discardableResult
    mutating func append(_ notification: Notification, toTrack index: Int) -> Ticket {
        let place = takeSlot()
        self[place].notification = notification
        self[place].sequence = nextSequence
        self[place].track = index
        nextSequence += 1
        count += 1
        let newest = tracks[index].newest
        self[place].inTrack = Links(older: newest, newer: Slot.none)
        if newest == Slot.none {
            tracks[index].oldest = place
        } else {
            self[newest].inTrack.newer = place
        }
        tracks[index].newest = place
        for kind in tables.indices where tables[kind] != nil { join(kind, place) }
        return Ticket(place: place, sequence: self[place].sequence)
    }

    private mutating func takeSlot() -> UInt32 {
        if firstFree == Slot.none {
            slots.append(Slot())
            return UInt32(slots.count - 1)
        }
        defer { firstFree = self[firstFree].inTrack.newer }
        return firstFree
    }

    /// The oldest one that says the same as a notification.
    mutating func first(like notification: Notification, _ mask: Mask) -> Ticket? {
        guard let kind = WaitingNotifications.kind(mask) else { return nil }
        if tables[kind] == nil { makeTable(kind) }
        let hash = WaitingNotifications.hash(notification, kind)
        guard let index = tables[kind]?.index(of: hash, where: { says($0, like: notification, kind) }),
            let place = tables[kind]?[index]
        else { return nil }
        return ticket(place)
    }

    /// The notification, if it still waits.
    func notification(_ ticket: Ticket) -> Notification? {
        guard Int(ticket.place) < slots.count, self[ticket.place].sequence == ticket.sequence else {
            return nil
        }
        return self[ticket.place].notification
    }

    /// Puts a notification that says the same in the place of one that waits.
    ///
    /// - Returns: The one that waited, which the caller lets go of when it is done: what goes with it may be user code's, and
    ///   may use the queue.
    mutating func replace(_ ticket: Ticket, with notification: Notification) -> Notification? {
        let old = self[ticket.place].notification
        self[ticket.place].notification = notification
        return old
    }

    /// Takes one out that waits.
    ///
    /// - Returns: The notification, which the caller lets go of when it is done, as in ``replace(_:with:)``.
    mutating func remove(_ ticket: Ticket) -> Notification? {
        let place = ticket.place
        for kind in tables.indices where tables[kind] != nil { leave(kind, place) }
        let links = self[place].inTrack
        let track = self[place].track
        if links.older == Slot.none {
            tracks[track].oldest = links.newer
        } else {
            self[links.older].inTrack.newer = links.newer
        }
        if links.newer == Slot.none {
            tracks[track].newest = links.older
        } else {
            self[links.newer].inTrack.older = links.older
        }
        let notification = self[place].notification
        self[place].notification = nil
        self[place].inTrack.newer = firstFree
        firstFree = place
        count -= 1
        if count == 0 && slots.count > 1024 {
            // What a burst has taken is given back.
            slots = []
            firstFree = Slot.none
        }
        return notification
    }

    // MARK: - Those that say the same

    /// The number of a mask's table and lists; nil for the empty mask.
    private static func kind(_ mask: Mask) -> Int? {
        mask.isDisjoint(with: [.onName, .onSender]) ? nil : Int(mask.rawValue & 3) - 1
    }

    private static func looksAtName(_ kind: Int) -> Bool { kind != 1 }
    private static func looksAtSender(_ kind: Int) -> Bool { kind != 0 }

    private static func hash(_ notification: Notification, _ kind: Int) -> UInt32 {
        var hash: UInt = 0
        if looksAtName(kind) { hash = UInt(bitPattern: notification.name.shardHash) }
        if looksAtSender(kind), let sender = notification.sender {
            hash = hash &* 0x9E37_79B9_7F4A_7C15 &+ UInt(bitPattern: sender)
        }
        // The high bits of the product: the low ones of addresses are all alike.
        return UInt32(truncatingIfNeeded: (hash &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    private func says(_ place: UInt32, like notification: Notification, _ kind: Int) -> Bool {
        if Self.looksAtName(kind) && self[place].notification?.name != notification.name { return false }
        return !Self.looksAtSender(kind) || self[place].notification?.sender == notification.sender
    }

    /// Asked for this for the first time: those that wait join, oldest first.
    @inline(never)
    private mutating func makeTable(_ kind: Int) {
        tables[kind] = CoalescingTable()
        let waiting = slots.indices.filter { slots[$0].notification != nil }
        for place in waiting.sorted(by: { slots[$0].sequence < slots[$1].sequence }) {
            join(kind, UInt32(place))
        }
    }

    private mutating func join(_ kind: Int, _ place: UInt32) {
        guard let notification = self[place].notification else { return }
        let hash = Self.hash(notification, kind)
        guard let index = tables[kind]?.index(of: hash, where: { says($0, like: notification, kind) }),
            let oldest = tables[kind]?[index]
        else {
            self[place].alike[kind] = Links(older: place, newer: place)
            tables[kind]?.insert(place, hash: hash)
            return
        }
        let newest = self[oldest].alike[kind].older
        self[place].alike[kind] = Links(older: newest, newer: oldest)
        self[newest].alike[kind].newer = place
        self[oldest].alike[kind].older = place
    }

    private mutating func leave(_ kind: Int, _ place: UInt32) {
        guard let notification = self[place].notification else { return }
        let links = self[place].alike[kind]
        // Behind the oldest one in the ring is the newest.
        if links.older == place || self[links.older].sequence > self[place].sequence {
            let hash = Self.hash(notification, kind)
            guard let index = tables[kind]?.index(of: hash, where: { $0 == place }) else {
                preconditionFailure("the oldest one is the one in the table")
            }
            if links.older == place {
                tables[kind]?.remove(at: index)
            } else {
                tables[kind]?[index] = links.newer
            }
        }
        self[links.older].alike[kind].newer = links.newer
        self[links.newer].alike[kind].older = links.older
    }
}

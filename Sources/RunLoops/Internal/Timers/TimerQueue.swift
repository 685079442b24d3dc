/// The planned fires of a loop's timers, independent of any clock, thread or closure.
///
/// A timer fires at its date or later. A timer with a tolerance is allowed to be late by at most its tolerance, so that several
/// timers can share one wake-up. Timers that are due together fire in the order of their dates; timers with equal dates fire in the
/// order in which they were added.
struct TimerQueue<Payload> {
    /// One planned fire.
    ///
    /// A fire is stale after its timer was removed or got another date.
    struct Fire: Hashable {
        fileprivate let slot: Int
        fileprivate let stamp: UInt64
    }

    private struct Slot {
        var payload: Payload?
        var key: IndexedHeap.Key
        var stamp: UInt64
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// Timers without a tolerance, by date.
    private var exact = IndexedHeap()
    /// Timers with a tolerance, by the earliest date at which they are allowed to fire.
    private var lenient = IndexedHeap()
    /// The timers of `lenient`, by the latest date at which they are allowed to fire.
    private var lenientLatest = IndexedHeap()
    private var nextSequence: UInt64 = 0
    private var nextStamp: UInt64 = 0
    /// A buffer that ``collectDue(at:into:)`` reuses.
    private var dueSlots: [Int] = []

    /// The number of planned fires.
    var count: Int { exact.count + lenient.count }

    var isEmpty: Bool { exact.isEmpty && lenient.isEmpty }

    /// The latest moment at which the loop can wake without exceeding any timer's tolerance; nil if no fire is planned.
    ///
    /// The property is inlined, because a call would copy the whole queue, twice in each pass.
    var nextWake: Moment? {
        @inline(__always) get {
            switch (exact.first?.date, lenientLatest.first?.date) {
            case (let exact?, let latest?): min(exact, latest)
            case (let date?, nil), (nil, let date?): date
            case (nil, nil): nil
            }
        }
    }

    /// Returns the next sequence number, which makes a new timer fire after all earlier timers with the same date.
    mutating func makeSequence() -> UInt64 {
        defer { nextSequence += 1 }
        return nextSequence
    }

    /// Plans a fire.
    ///
    /// - Parameters:
    ///   - payload: The timer.
    ///   - date: The earliest moment at which the timer is allowed to fire.
    ///   - tolerance: The number of nanoseconds by which the fire is allowed to be late.
    ///   - sequence: The timer's number, from ``makeSequence()``.
    /// - Returns: The fire, for ``remove(_:)``.
    mutating func add(_ payload: Payload, date: Moment, tolerance: Int64 = 0, sequence: UInt64) -> Fire {
        let key = IndexedHeap.Key(date: date, sequence: sequence)
        let stamp = nextStamp
        nextStamp += 1
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            slots[slot] = Slot(payload: payload, key: key, stamp: stamp)
        } else {
            slot = slots.count
            slots.append(Slot(payload: payload, key: key, stamp: stamp))
        }
        if tolerance > 0 {
            lenient.insert(slot, key: key)
            lenientLatest.insert(
                slot, key: IndexedHeap.Key(date: date.advanced(by: tolerance), sequence: sequence))
        } else {
            exact.insert(slot, key: key)
        }
        return Fire(slot: slot, stamp: stamp)
    }

    /// Removes a planned fire and returns its timer; returns nil if the fire is stale.
    @discardableResult
    mutating func remove(_ fire: Fire) -> Payload? {
        guard slots[fire.slot].stamp == fire.stamp, let payload = slots[fire.slot].payload else { return nil }
        slots[fire.slot].payload = nil
        freeSlots.append(fire.slot)
        exact.remove(fire.slot)
        lenient.remove(fire.slot)
        lenientLatest.remove(fire.slot)
        return payload
    }

    /// Appends the due fires to a list, in the order in which the timers fire.
    ///
    /// The fires stay planned. Remove each fire with ``remove(_:)`` just before its handler is called, and skip it if it is stale.
    ///
    /// - Parameters:
    ///   - now: The current moment.
    ///   - due: The list, which the caller reuses, so that a fire allocates no memory.
    /// - Complexity: O(*k* log *k*) for *k* due fires, however many fires are planned.
    mutating func collectDue(at now: Moment, into due: inout [Fire]) {
        if (exact.first?.date ?? .never) > now && (lenient.first?.date ?? .never) > now { return }
        dueSlots.removeAll(keepingCapacity: true)
        exact.collectDue(at: now, into: &dueSlots)
        lenient.collectDue(at: now, into: &dueSlots)
        // Usually only one fire is due.
        if dueSlots.count > 1 { dueSlots.sort { [slots] in slots[$0].key < slots[$1].key } }
        for slot in dueSlots { due.append(Fire(slot: slot, stamp: slots[slot].stamp)) }
        // Releases the memory that a burst has taken.
        if dueSlots.count > 1024 { dueSlots = [] }
    }
}

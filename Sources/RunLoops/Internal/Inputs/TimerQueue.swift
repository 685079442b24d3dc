/// The planned fires of a loop's timers, without clock, thread or closure.
///
/// A timer fires at its date or later, and with a tolerance at the latest so much later, so that several
/// can share one wake-up. Timers that are due together fire in the order of their dates, and those of
/// equal dates in the order in which they were added.
struct TimerQueue<Payload> {
    /// One planned fire.
    ///
    /// It is stale as soon as the timer was taken out or given another date.
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
    /// Timers without tolerance, by date.
    private var exact = IndexedHeap()
    /// Timers with tolerance: by the date from which on they may fire, and by the one at which they must.
    private var lenient = IndexedHeap()
    private var lenientLatest = IndexedHeap()
    private var nextSequence: UInt64 = 0
    private var nextStamp: UInt64 = 0
    /// Of use inside ``collectDue(at:into:)`` only.
    private var dueSlots: [Int] = []

    /// The number of planned fires.
    var count: Int { exact.count + lenient.count }

    var isEmpty: Bool { exact.isEmpty && lenient.isEmpty }

    /// The latest moment to wake at so that no timer fires later than it may.
    ///
    /// Inlined, because a call copies the whole queue, twice in each pass.
    var nextWake: Moment? {
        @inline(__always) get {
            switch (exact.first?.date, lenientLatest.first?.date) {
            case (let exact?, let latest?): min(exact, latest)
            case (let date?, nil), (nil, let date?): date
            case (nil, nil): nil
            }
        }
    }

    /// A number that orders a new timer after all before it.
    mutating func makeSequence() -> UInt64 {
        defer { nextSequence += 1 }
        return nextSequence
    }

    /// Plans a fire.
    ///
    /// - Parameters:
    ///   - payload: The timer.
    ///   - date: The earliest moment.
    ///   - tolerance: The number of nanoseconds after it that are still in time.
    ///   - sequence: The timer's, from ``makeSequence()``.
    /// - Returns: The fire, to take it out again.
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

    /// Takes a planned fire out, unless it is stale.
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

    /// Adds the fires that are due to a list, in the order in which they are to happen.
    ///
    /// They stay planned: take each out with ``remove(_:)`` when its turn comes, and skip it if it is stale.
    ///
    /// - Parameters:
    ///   - now: The moment.
    ///   - due: The list, which the caller keeps from time to time: a fire is to cost no memory.
    /// - Complexity: O(*k* log *k*) for *k* fires due, however many are planned.
    mutating func collectDue(at now: Moment, into due: inout [Fire]) {
        if (exact.first?.date ?? .never) > now && (lenient.first?.date ?? .never) > now { return }
        dueSlots.removeAll(keepingCapacity: true)
        exact.collectDue(at: now, into: &dueSlots)
        lenient.collectDue(at: now, into: &dueSlots)
        // Mostly it is one.
        if dueSlots.count > 1 { dueSlots.sort { [slots] in slots[$0].key < slots[$1].key } }
        for slot in dueSlots { due.append(Fire(slot: slot, stamp: slots[slot].stamp)) }
        // The memory that a burst has taken is given back.
        if dueSlots.count > 1024 { dueSlots = [] }
    }
}

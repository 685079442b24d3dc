/// The descriptors that a ``LibrarySource`` watches for its library, and their state in the kernel's epoll set.
///
/// A group makes no system calls. Its caller makes the changes in the set: the group returns each change, and then records the
/// kernel's answer. The group also interprets the kernel's reports.
///
/// Each descriptor has a slot. The generation of a slot counts how often the library has stopped watching the slot's descriptor.
/// The kernel's set stores a token with each descriptor, and returns the token in each report. The token consists of the slot and
/// the slot's generation, so it shows whether the report is about the file that the library now watches.
///
/// The descriptor's number alone does not show this. After the descriptor was closed, its number can belong to another file, and
/// the kernel continues to report the closed descriptor while a copy of it is open.
struct DescriptorGroup {
    typealias Interest = DescriptorSource.Interest

    /// A change to make in the kernel's epoll set.
    struct Change: Hashable {
        /// The kinds of changes.
        enum Kind { case add, modify, remove }

        let kind: Kind
        let descriptor: CInt
        let interest: Interest
        let token: UInt64
        /// True if this change is a second attempt: an addition after a modification has failed, or the reverse.
        let isSecond: Bool
    }

    /// The kernel's answer to a change.
    enum Answer {
        case done
        /// The change failed, because the set does not contain the file that the descriptor now refers to.
        ///
        /// The watched file was closed, and another file now has its number.
        case notInSet
        case inSet
        case closed
        /// The kernel cannot watch this kind of file, or is out of resources.
        case refused
    }

    private enum Refusal { case none, untold, told }

    private struct Slot {
        var descriptor: CInt
        var generation: UInt32 = 0
        var wanted: Interest = []
        /// The events for which the kernel's set watches the descriptor; empty if the set does not contain the descriptor.
        var known: Interest = []
        /// The slot's generation at the time when the kernel's set last stored the slot's token.
        var knownGeneration: UInt32 = 0
        var isChanged = false
        /// The state of the kernel's refusal to watch the descriptor for the events in `wanted`.
        ///
        /// A refusal is `untold` until the library learns of it, and then `told`.
        var refusal = Refusal.none
        /// True if the descriptor was in the previous set, and has not been added to the present set yet.
        var isRestored = false
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var places: [CInt: Int] = [:]
    /// The slots with changes that have not yet been passed to the kernel.
    private var changed: [Int] = []
    /// The slots of descriptors that the kernel has refused to watch; ``takeRefused()`` removes them.
    private var refused: [Int] = []

    /// The number of descriptors in the group.
    ///
    /// This includes descriptors that the library has stopped watching, but that the kernel's set still contains.
    var count: Int { places.count }

    /// True if there are changes that have not yet been passed to the kernel.
    var hasChanges: Bool { !changed.isEmpty }

    /// True if the kernel has refused to watch descriptors that ``takeRefused()`` has not returned yet.
    var hasRefused: Bool { !refused.isEmpty }

    // MARK: - The library's side

    /// Sets the events for which the library wants to watch a descriptor; an empty interest stops watching it.
    ///
    /// - Returns: True if this change is now the only pending change. In that case the caller must schedule the pending changes.
    mutating func setInterest(_ interest: Interest, of descriptor: CInt) -> Bool {
        let slot: Int
        if let place = places[descriptor] {
            slot = place
        } else {
            if interest.isEmpty { return false }
            slot = makeSlot(descriptor)
        }
        if slots[slot].wanted == interest && slots[slot].refusal == .none { return false }
        if interest.isEmpty { slots[slot].generation &+= 1 }
        slots[slot].wanted = interest
        slots[slot].refusal = .none
        slots[slot].isRestored = false
        return noteChange(slot)
    }

    // MARK: - The changes of the kernel's set

    /// Removes and returns the next change to make in the kernel's set; nil if there is no further change.
    mutating func nextChange() -> Change? {
        while let slot = changed.popLast() {
            slots[slot].isChanged = false
            let state = slots[slot]
            if state.wanted.isEmpty {
                release(slot)
                if !state.known.isEmpty { return change(.remove, of: slot, state) }
            } else if state.known.isEmpty {
                return change(.add, of: slot, state)
            } else if state.known != state.wanted || state.knownGeneration != state.generation {
                return change(.modify, of: slot, state)
            }
        }
        return nil
    }

    /// Records the kernel's answer to a change.
    ///
    /// The answer to a removal is ignored, because a closed descriptor is no longer in the set.
    ///
    /// - Returns: A change to make instead; nil if there is no such change.
    mutating func note(_ answer: Answer, to change: Change) -> Change? {
        if change.kind == .remove { return nil }
        let slot = DescriptorGroup.slot(of: change.token)
        switch (answer, change.kind) {
        case (.done, _):
            slots[slot].known = change.interest
            slots[slot].knownGeneration = slots[slot].generation
            slots[slot].isRestored = false
            return nil
        case (.notInSet, .modify) where !change.isSecond:
            return self.change(.add, of: slot, slots[slot], isSecond: true)
        case (.inSet, .add) where !change.isSecond:
            return self.change(.modify, of: slot, slots[slot], isSecond: true)
        case (.closed, _) where slots[slot].isRestored:
            // The library has closed a descriptor that it was still watching, so the descriptor is no longer wanted.
            slots[slot].generation &+= 1
            slots[slot].wanted = []
            release(slot)
            return nil
        case (.notInSet, _), (.inSet, _), (.closed, _), (.refused, _):
            slots[slot].known = []
            slots[slot].refusal = .untold
            refused.append(slot)
            return nil
        }
    }

    /// Schedules the addition of all descriptors, because the kernel's set is new and empty.
    mutating func restore() {
        for slot in places.values {
            slots[slot].known = []
            if slots[slot].wanted.isEmpty || slots[slot].refusal != .none { continue }
            slots[slot].isRestored = true
            _ = noteChange(slot)
        }
    }

    // MARK: - The kernel's reports

    /// True if the token of a report is the token that the kernel's set now stores for the same slot.
    ///
    /// The group does not ask the kernel: it has recorded the tokens that the set stores.
    ///
    /// A report with any other token is about a descriptor that was closed while a copy of it was open. Such a descriptor stays in
    /// the set, and the kernel has no call that removes it.
    func isKnown(_ token: UInt64) -> Bool {
        let slot = DescriptorGroup.slot(of: token)
        guard slot < slots.count else { return false }
        return !slots[slot].known.isEmpty && slots[slot].knownGeneration == UInt32(token >> 32)
    }

    /// The descriptor to which a token belongs, with the events that the library wants; nil if the library has stopped watching it.
    func descriptor(of token: UInt64) -> (descriptor: CInt, interest: Interest)? {
        let slot = DescriptorGroup.slot(of: token)
        guard slot < slots.count, slots[slot].generation == UInt32(token >> 32), !slots[slot].wanted.isEmpty
        else {
            return nil
        }
        return (slots[slot].descriptor, slots[slot].wanted)
    }

    /// Removes and returns a descriptor that the kernel has refused to watch; nil if there is no further such descriptor.
    mutating func takeRefused() -> CInt? {
        while let slot = refused.popLast() {
            if slots[slot].refusal != .untold { continue }
            slots[slot].refusal = .told
            return slots[slot].descriptor
        }
        return nil
    }

    // MARK: - Slots

    private static func slot(of token: UInt64) -> Int { Int(token & 0xffff_ffff) }

    private func change(_ kind: Change.Kind, of slot: Int, _ state: Slot, isSecond: Bool = false) -> Change {
        Change(
            kind: kind, descriptor: state.descriptor, interest: state.wanted,
            token: UInt64(state.generation) << 32 | UInt64(slot), isSecond: isSecond)
    }

    private mutating func makeSlot(_ descriptor: CInt) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            slots[slot].descriptor = descriptor
        } else {
            slot = slots.count
            slots.append(Slot(descriptor: descriptor))
        }
        places[descriptor] = slot
        return slot
    }

    /// Frees a slot for another descriptor, but keeps the slot's generation, so that old tokens stay invalid.
    private mutating func release(_ slot: Int) {
        places[slots[slot].descriptor] = nil
        let generation = slots[slot].generation
        slots[slot] = Slot(descriptor: -1, generation: generation)
        freeSlots.append(slot)
    }

    private mutating func noteChange(_ slot: Int) -> Bool {
        if slots[slot].isChanged { return false }
        slots[slot].isChanged = true
        changed.append(slot)
        return changed.count == 1
    }
}

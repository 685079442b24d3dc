/// The descriptors that a library wants watched, and what the kernel's set knows of them.
///
/// It makes no system calls: it says what to change in the set, is told the kernel's answers, and judges its reports.
///
/// Each descriptor has a slot, and the kernel's set gets a token with the slot and its generation. The generation counts how
/// often the slot was let go of. So a report tells if it is about the file that the library means now: the number of a
/// descriptor that was closed may be another file's, and the kernel goes on reporting a closed descriptor while a copy of it is
/// open.
struct DescriptorGroup {
    typealias Interest = DescriptorSource.Interest

    /// A change to make in the kernel's set.
    struct Change: Hashable {
        /// The kinds of changes.
        enum Kind { case add, modify, remove }

        let kind: Kind
        let descriptor: CInt
        let interest: Interest
        let token: UInt64
        /// Made because the kernel's answer to another kind was that it knows better.
        let isSecond: Bool
    }

    /// The kernel's answer to a change.
    enum Answer {
        case done
        /// The file that has the number is not in the set: it was closed, and another one has the number.
        case notInSet
        case inSet
        case closed
        /// The kernel watches no such file, or has no room.
        case refused
    }

    private enum Refusal { case none, untold, told }

    private struct Slot {
        var descriptor: CInt
        var generation: UInt32 = 0
        var wanted: Interest = []
        /// The interest in the kernel's set, and the generation of the token there; empty if the kernel's set has it not.
        var known: Interest = []
        var knownGeneration: UInt32 = 0
        var isChanged = false
        /// The kernel has refused what is wanted, and the library knows, or does not.
        var refusal = Refusal.none
        /// The kernel had it in a set before this one.
        var isRestored = false
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var places: [CInt: Int] = [:]
    /// The slots with changes that the kernel has not got.
    private var changed: [Int] = []
    /// Descriptors that the kernel has refused, and that were not reported.
    private var refused: [Int] = []

    /// The number of descriptors, with those that were let go of and that the kernel still has.
    var count: Int { places.count }

    /// True if there are changes that the kernel has not got.
    var hasChanges: Bool { !changed.isEmpty }

    /// True if the kernel has refused descriptors, and ``takeRefused()`` has not returned all of them.
    var hasRefused: Bool { !refused.isEmpty }

    // MARK: - The library's side

    /// Notes that a descriptor is to be watched for other events, or for none.
    ///
    /// - Returns: True if the kernel has to get changes from now on.
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

    /// Takes out the next change; nil if the kernel has got all.
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

    /// Notes the kernel's answer to a change.
    ///
    /// The answer to a removal does not matter: what was closed is not in the set.
    ///
    /// - Returns: A change to make instead; nil if there is none.
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
            // It was closed, and the library has not said so: it wants nothing more of it.
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

    /// Has all descriptors added to the kernel's set again: it is a new one, and empty.
    mutating func restore() {
        for slot in places.values {
            slots[slot].known = []
            if slots[slot].wanted.isEmpty || slots[slot].refusal != .none { continue }
            slots[slot].isRestored = true
            _ = noteChange(slot)
        }
    }

    // MARK: - The kernel's reports

    /// True if the kernel's set has a token, as far as is known.
    ///
    /// If the kernel reports another token, that is of a descriptor that was closed, and of which a copy is open: the kernel
    /// cannot be told to forget it.
    func isKnown(_ token: UInt64) -> Bool {
        let slot = DescriptorGroup.slot(of: token)
        guard slot < slots.count else { return false }
        return !slots[slot].known.isEmpty && slots[slot].knownGeneration == UInt32(token >> 32)
    }

    /// The descriptor of a token, and its interest; nil if the library has let go of it.
    func descriptor(of token: UInt64) -> (descriptor: CInt, interest: Interest)? {
        let slot = DescriptorGroup.slot(of: token)
        guard slot < slots.count, slots[slot].generation == UInt32(token >> 32), !slots[slot].wanted.isEmpty
        else {
            return nil
        }
        return (slots[slot].descriptor, slots[slot].wanted)
    }

    /// Takes out a descriptor that the kernel has refused to watch, each once; nil if there are no more.
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

    /// Frees a slot, which keeps its generation.
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

/// A priority queue of slots, ordered by date, that adds or removes any slot in O(log *n*).
///
/// A slot is an index into an array of the caller.
///
/// Each node of the heap has four children. So the heap has half the levels of a binary heap, and the children of a node are next
/// to each other in memory. A comparison of keys compares two integers, and calls no closure.
struct IndexedHeap {
    /// The sort key of a slot: its date, and its sequence number to order slots with equal dates.
    struct Key: Comparable {
        var date: Moment
        var sequence: UInt64

        static func < (left: Key, right: Key) -> Bool {
            left.date == right.date ? left.sequence < right.sequence : left.date < right.date
        }
    }

    private struct Entry {
        var key: Key
        var slot: Int
    }

    private var entries: [Entry] = []
    /// For each slot, the position of its entry in `entries`; −1 for a slot that is not in the heap.
    private var positions: [Int] = []

    private static let arity = 4

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var first: Key? { entries.first?.key }

    func contains(_ slot: Int) -> Bool { slot < positions.count && positions[slot] >= 0 }

    /// Adds a slot.
    ///
    /// - Precondition: The slot is not in the heap.
    mutating func insert(_ slot: Int, key: Key) {
        while positions.count <= slot { positions.append(-1) }
        entries.append(Entry(key: key, slot: slot))
        moveUp(from: entries.count - 1)
    }

    /// Removes a slot, if it is in the heap.
    mutating func remove(_ slot: Int) {
        guard contains(slot) else { return }
        let position = positions[slot]
        positions[slot] = -1
        let last = entries.removeLast()
        if position == entries.count { return }
        let replaced = entries[position].key
        entries[position] = last
        if last.key < replaced { moveUp(from: position) } else { moveDown(from: position) }
    }

    /// Appends every slot whose date is not after `now` to a list, in no particular order.
    ///
    /// The method fills a list instead of calling a closure for each slot. With a closure, the values that it captures would be
    /// copied, with all their references.
    func collectDue(at now: Moment, into due: inout [Int]) {
        if let first, first.date <= now { visit(0, now, &due) }
    }

    /// Appends the slot of a position that is due, and those of the positions below it that are due.
    private func visit(_ position: Int, _ now: Moment, _ due: inout [Int]) {
        due.append(entries[position].slot)
        let child = position * IndexedHeap.arity + 1
        if child >= entries.count { return }
        for next in child..<min(child + IndexedHeap.arity, entries.count)
        where entries[next].key.date <= now {
            visit(next, now, &due)
        }
    }

    private mutating func moveUp(from start: Int) {
        let entry = entries[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / IndexedHeap.arity
            if entries[parent].key < entry.key { break }
            place(entries[parent], at: position)
            position = parent
        }
        place(entry, at: position)
    }

    private mutating func moveDown(from start: Int) {
        let entry = entries[start]
        var position = start
        while true {
            let child = position * IndexedHeap.arity + 1
            if child >= entries.count { break }
            var smallest = child
            for other in child + 1..<max(child + 1, min(child + IndexedHeap.arity, entries.count))
            where entries[other].key < entries[smallest].key {
                smallest = other
            }
            if entry.key < entries[smallest].key { break }
            place(entries[smallest], at: position)
            position = smallest
        }
        place(entry, at: position)
    }

    private mutating func place(_ entry: Entry, at position: Int) {
        entries[position] = entry
        positions[entry.slot] = position
    }
}

internal import DequeModule

/// Keys that wait for a turn, each with an owner: the owners take turns, and so do the keys of each.
///
/// So an owner with a thousand keys gets no more turns than an owner with one.
struct FairTurns<Key: Hashable & Sendable, Owner: Hashable & Sendable>: Sendable {
    /// The owners that have keys, each once, in the order of their turns.
    private var owners = Deque<Owner>()
    private var keys: [Owner: Deque<Key>] = [:]
    private var waiting: Set<Key> = []

    var isEmpty: Bool { waiting.isEmpty }

    func contains(_ key: Key) -> Bool { !waiting.isEmpty && waiting.contains(key) }

    /// Adds a key behind the others of its owner; nothing happens if the key waits already.
    mutating func add(_ key: Key, of owner: Owner) {
        if !waiting.insert(key).inserted { return }
        if keys[owner] == nil { owners.append(owner) }
        keys[owner, default: []].append(key)
    }

    /// Removes and returns the key whose turn it is; nil if none waits.
    mutating func next() -> Key? {
        guard let owner = owners.popFirst(), let key = keys[owner]?.popFirst() else { return nil }
        waiting.remove(key)
        if keys[owner]?.isEmpty == true { keys[owner] = nil } else { owners.append(owner) }
        return key
    }
}

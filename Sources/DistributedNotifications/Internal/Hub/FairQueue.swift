/// Keys in the order in which they came, each with an owner and a weight.
///
/// When something has to go, it is the oldest key of the owner whose keys weigh most. So an owner with many keys loses its own
/// keys, and not those of others.
struct FairQueue<Key: Hashable & Sendable, Owner: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let owner: Owner
        let weight: Int
        let serial: UInt64
    }

    private struct Share: Sendable {
        var keys = SerialList<Key>()
        var weight = 0
    }

    private var entries: [Key: Entry] = [:]
    private var shares: [Owner: Share] = [:]
    private var lastSerial: UInt64 = 0
    /// The weight of all keys together.
    private(set) var weight = 0

    var count: Int { entries.count }

    /// Adds a key, which is not in the queue.
    mutating func append(_ key: Key, of owner: Owner, weight: Int = 1) {
        lastSerial += 1
        precondition(entries[key] == nil, "a key is added once")
        entries[key] = Entry(owner: owner, weight: weight, serial: lastSerial)
        shares[owner, default: Share()].keys.append(key, serial: lastSerial)
        shares[owner]?.weight += weight
        self.weight += weight
    }

    /// Removes a key.
    ///
    /// - Returns: The owner of the key, or nil if the key is not in the queue.
    @discardableResult
    mutating func remove(_ key: Key) -> Owner? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        shares[entry.owner]?.keys.remove(entry.serial)
        shares[entry.owner]?.weight -= entry.weight
        if shares[entry.owner]?.keys.isEmpty == true { shares[entry.owner] = nil }
        weight -= entry.weight
        return entry.owner
    }

    /// Returns the number of keys of an owner.
    func count(of owner: Owner) -> Int { shares[owner]?.keys.count ?? 0 }

    /// Returns the oldest key of an owner.
    func first(of owner: Owner) -> Key? { shares[owner]?.keys.first?.element }

    /// The oldest key of the owner whose keys weigh most; nil if the queue is empty.
    ///
    /// Of several such owners, it is the one whose oldest key is the oldest.
    ///
    /// - Complexity: O(*n*), where *n* is the number of owners.
    var firstOfGreediest: Key? {
        var found: (weight: Int, serial: UInt64, key: Key)?
        for share in shares.values {
            guard let (serial, key) = share.keys.first else { continue }
            if let found, (share.weight, found.serial) <= (found.weight, serial) { continue }
            found = (share.weight, serial, key)
        }
        return found?.key
    }
}

extension FairQueue: Hashable {
    // The queue only decides what goes first: two states that differ in nothing else are equal.
    static func == (left: FairQueue, right: FairQueue) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

internal import Synchronization

/// What observations can be registered under.
protocol ObserverKey: Hashable, Sendable {
    /// Spreads the keys; cheap.
    var shardHash: Int { get }
}

extension ObjectIdentifier: ObserverKey {
    var shardHash: Int { Int(bitPattern: self) }
}

/// Which list belongs to which key: a hash table that posts read while it changes.
///
/// A place is filled once and keeps its key. The list at it may be replaced, and taken out; then a mark stays until the table
/// is replaced by another one.
///
/// > Thread safety: ``list(for:hash:)`` inside a ``CallRecord/lookUp(_:)``; the rest under the shard's lock.
///
/// `@unchecked Sendable`: a key is set before its list is published and never changed afterwards, lists are atomic, and the
/// counts are under the lock. `@safe`: the memory is the table's from `init` to `deinit`.
@safe
final class ObserverTable<Key: ObserverKey>: @unchecked Sendable {
    private let mask: Int
    /// Addresses of lists, 0 for a place that was never filled, 1 for one whose list was taken out.
    private let lists: UnsafeMutablePointer<Atomic<UInt>>
    private let keys: UnsafeMutablePointer<Key>

    /// How many places were ever filled.
    private var filledCount = 0
    /// How many have a list.
    private(set) var count = 0

    private static var takenOut: UInt { 1 }

    /// Makes a table.
    ///
    /// - Parameter count: How many keys it has room for, at least.
    init(roomFor count: Int) {
        var capacity = 4
        // At most three quarters are filled, so that a search ends soon.
        while capacity * 3 < count * 4 { capacity *= 2 }
        mask = capacity - 1
        unsafe lists = .allocate(capacity: capacity)
        unsafe keys = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (lists + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for place in 0...mask {
            let address = unsafe lists[place].load(ordering: .acquiring)
            if address != 0 { unsafe (keys + place).deinitialize(count: 1) }
            if address > Self.takenOut { ObserverList(address: address)?.release() }
        }
        unsafe lists.deinitialize(count: mask + 1)
        unsafe lists.deallocate()
        unsafe keys.deallocate()
    }

    /// The list of a key.
    @inline(__always)
    func list(for key: Key, hash: UInt) -> ObserverList? {
        let place = place(of: key, hash)
        let address = unsafe lists[place].load(ordering: .acquiring)
        return address > Self.takenOut ? ObserverList(address: address) : nil
    }

    /// Where a key is, or would be.
    @inline(__always)
    private func place(of key: Key, _ hash: UInt) -> Int {
        var place = Int(truncatingIfNeeded: hash) & mask
        // There is always a place that is not filled.
        while unsafe lists[place].load(ordering: .acquiring) != 0 {
            if unsafe keys[place] == key { break }
            place = (place + 1) & mask
        }
        return place
    }

    // MARK: - Under the shard's lock

    var isFull: Bool { (filledCount + 1) * 4 > (mask + 1) * 3 }

    /// Gives a key its first list, or another one in place of the one it has.
    ///
    /// The table takes the reference over. For a key that is not there yet: the table is not full.
    ///
    /// - Returns: The list that was there; its reference is the caller's.
    func set(_ list: ObserverList, for key: Key, hash: UInt) -> ObserverList? {
        let place = place(of: key, hash)
        let before = unsafe lists[place].load(ordering: .relaxed)
        if before == 0 {
            precondition(!isFull, "a full table is replaced by a larger one first")
            unsafe (keys + place).initialize(to: key)
            filledCount += 1
        }
        if before <= Self.takenOut { count += 1 }
        unsafe lists[place].store(list.address, ordering: .releasing)
        return before > Self.takenOut ? ObserverList(address: before) : nil
    }

    /// Takes the list of a key out.
    ///
    /// - Returns: The list; its reference is the caller's.
    func remove(_ key: Key, hash: UInt) -> ObserverList? {
        let place = place(of: key, hash)
        let before = unsafe lists[place].load(ordering: .relaxed)
        guard before > Self.takenOut else { return nil }
        unsafe lists[place].store(Self.takenOut, ordering: .releasing)
        count -= 1
        return ObserverList(address: before)
    }

    /// A table with the same lists, and room for more.
    func rebuilt(hashing hash: (Key) -> UInt) -> ObserverTable {
        let table = ObserverTable(roomFor: count * 2 + 1)
        forEach { key, list in
            list.retain()
            _ = table.set(list, for: key, hash: hash(key))
        }
        return table
    }

    /// Goes through all that have a list.
    func forEach(_ body: (Key, ObserverList) -> Void) {
        for place in 0...mask {
            let address = unsafe lists[place].load(ordering: .relaxed)
            guard address > Self.takenOut, let list = ObserverList(address: address) else { continue }
            body(unsafe keys[place], list)
        }
    }

    /// Whether the table is much too large for what is in it.
    var isSparse: Bool { mask >= 16 && count * 8 < mask }
}

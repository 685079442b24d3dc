internal import Synchronization

/// A hash table from keys to lists of observations.
///
/// A thread that posts can read the table while another thread changes it.
///
/// A bucket is filled once and keeps its key. Its list can be replaced or removed. If the list is removed, the bucket is not free
/// for another key until the whole table is replaced.
///
/// > Thread safety: call ``list(for:)`` inside ``CallRecord/lookUp(_:)``, and the rest under the shard's lock.
///
/// `@unchecked Sendable`: a key is set before its list is published and never changes afterwards, the lists are atomic, and
/// the lock guards the counts. `@safe`: the table owns the memory from `init` to `deinit`.
@safe
final class ObserverTable<Key: ObserverKey>: @unchecked Sendable {
    private let mask: Int
    /// For each bucket, the address of its list; 0 if the bucket was never filled, 1 if its list was removed.
    private let lists: UnsafeMutablePointer<Atomic<UInt>>
    private let keys: UnsafeMutablePointer<Key>

    /// The number of buckets that were ever filled.
    private var filledCount = 0
    /// The number of buckets that have a list.
    private(set) var count = 0

    private static var takenOut: UInt { 1 }

    /// Makes a table with room for at least this number of keys.
    init(roomFor count: Int) {
        var capacity = 4
        // At most three quarters of the buckets are filled, so that a search ends soon.
        while capacity * 3 < count * 4 { capacity *= 2 }
        mask = capacity - 1
        unsafe lists = .allocate(capacity: capacity)
        unsafe keys = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (lists + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for bucket in 0...mask {
            let address = unsafe lists[bucket].load(ordering: .acquiring)
            if address != 0 { unsafe (keys + bucket).deinitialize(count: 1) }
            if address > Self.takenOut { ObserverList(address: address)?.release() }
        }
        unsafe lists.deinitialize(count: mask + 1)
        unsafe lists.deallocate()
        unsafe keys.deallocate()
    }

    /// The list of observations of a key, or nil if the key has none.
    @inline(__always)
    func list(for key: Key) -> ObserverList? {
        let bucket = bucket(of: key)
        let address = unsafe lists[bucket].load(ordering: .acquiring)
        return address > Self.takenOut ? ObserverList(address: address) : nil
    }

    /// The bucket that holds a key, or the empty bucket that the key would fill.
    @inline(__always)
    private func bucket(of key: Key) -> Int {
        var bucket = Int(truncatingIfNeeded: key.spreadHash) & mask
        // At least one bucket is always empty, so the loop ends.
        while unsafe lists[bucket].load(ordering: .acquiring) != 0 {
            if unsafe keys[bucket] == key { break }
            bucket = (bucket + 1) & mask
        }
        return bucket
    }

    // MARK: - Under the shard's lock

    /// True if one more key would fill more than three quarters of the buckets.
    var isFull: Bool { (filledCount + 1) * 4 > (mask + 1) * 3 }

    /// Sets the list of observations of a key.
    ///
    /// The table takes over the caller's reference to the list.
    ///
    /// A key that has no bucket yet may be added only to a table that is not full.
    ///
    /// - Returns: The list that the key had before, if any. The caller now owns the table's reference to it.
    func set(_ list: ObserverList, for key: Key) -> ObserverList? {
        let bucket = bucket(of: key)
        let before = unsafe lists[bucket].load(ordering: .relaxed)
        if before == 0 {
            precondition(!isFull, "a full table is replaced by a larger one first")
            unsafe (keys + bucket).initialize(to: key)
            filledCount += 1
        }
        if before <= Self.takenOut { count += 1 }
        unsafe lists[bucket].store(list.address, ordering: .releasing)
        return before > Self.takenOut ? ObserverList(address: before) : nil
    }

    /// Removes the list of a key.
    ///
    /// - Returns: The list, or nil if the key had none. The caller now owns the table's reference to it.
    func remove(_ key: Key) -> ObserverList? {
        let bucket = bucket(of: key)
        let before = unsafe lists[bucket].load(ordering: .relaxed)
        guard before > Self.takenOut else { return nil }
        unsafe lists[bucket].store(Self.takenOut, ordering: .releasing)
        count -= 1
        return ObserverList(address: before)
    }

    /// Returns a new table with the same lists, and room for more keys.
    func rebuilt() -> ObserverTable {
        let table = ObserverTable(roomFor: count * 2 + 1)
        forEach { key, list in
            list.retain()
            _ = table.set(list, for: key)
        }
        return table
    }

    /// Calls the body for each key that has a list.
    func forEach(_ body: (Key, ObserverList) -> Void) {
        for bucket in 0...mask {
            let address = unsafe lists[bucket].load(ordering: .relaxed)
            guard address > Self.takenOut, let list = ObserverList(address: address) else { continue }
            body(unsafe keys[bucket], list)
        }
    }

    /// True if the table has at least 32 buckets, and fewer than an eighth of them have a list.
    var isSparse: Bool { mask >= 16 && count * 8 < mask }
}

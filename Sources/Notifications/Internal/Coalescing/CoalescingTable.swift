/// A hash table that stores only slot numbers, each with a hash, and no keys.
///
/// A bucket takes only eight bytes, so a table of a hundred thousand slots stays in the processor's caches. The keys are in the
/// slots to which the numbers refer, and the caller compares them. With a `Dictionary` instead of this table, merging took 1.4
/// times as long, and adding took 1.5 times as long.
///
/// This is a value, for use on one thread.
struct CoalescingTable {
    private struct Bucket {
        /// The hash of the slot number's key; a hash of 0 is stored as 1, because 0 marks an empty bucket.
        var hash: UInt32 = 0
        var slot: UInt32 = 0
    }

    private var buckets = ContiguousArray(repeating: Bucket(), count: 16)
    private(set) var count = 0

    private var mask: Int { buckets.count - 1 }

    /// The position of a bucket; valid until the table changes.
    struct Index {
        fileprivate let bucket: Int
    }

    /// Finds a slot number.
    ///
    /// - Parameters:
    ///   - hash: The hash that the slot number was inserted with.
    ///   - isWanted: Returns true for the slot to find. It is called only with slots that were inserted with this hash.
    /// - Returns: The position of the slot number's bucket, or nil if the slot number is not in the table.
    @inline(__always)
    func index(of hash: UInt32, where isWanted: (_ slot: UInt32) -> Bool) -> Index? {
        let hash = max(hash, 1)
        var bucket = Int(hash) & mask
        // At least one bucket is always empty, so the loop ends.
        while true {
            let found = buckets[bucket]
            if found.hash == 0 { return nil }
            if found.hash == hash && isWanted(found.slot) { return Index(bucket: bucket) }
            bucket = (bucket + 1) & mask
        }
    }

    /// The length, in buckets, of the longest search for a stored slot number.
    ///
    /// The getter visits all buckets.
    var longestSearch: Int {
        buckets.indices.reduce(0) { longest, bucket in
            buckets[bucket].hash == 0
                ? longest : max(longest, (bucket - Int(buckets[bucket].hash)) & mask + 1)
        }
    }

    /// The slot number in the bucket at a position.
    subscript(index: Index) -> UInt32 {
        get { buckets[index.bucket].slot }
        set { buckets[index.bucket].slot = newValue }
    }

    /// Inserts a slot number that is not in the table.
    mutating func insert(_ slot: UInt32, hash: UInt32) {
        // At most three quarters of the buckets are filled, so that a search ends soon.
        if (count + 1) * 4 > buckets.count * 3 { resize(to: buckets.count * 2) }
        put(Bucket(hash: max(hash, 1), slot: slot))
        count += 1
    }

    private mutating func put(_ new: Bucket) {
        var bucket = Int(new.hash) & mask
        while buckets[bucket].hash != 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = new
    }

    /// Removes the slot number at a position.
    mutating func remove(at index: Index) {
        var hole = index.bucket
        var next = (hole + 1) & mask
        // A search ends at an empty bucket, so a search that begins at the hole or before it would not find the entries after the
        // hole. Each such entry moves into the hole, and leaves a new one.
        while buckets[next].hash != 0 {
            let home = Int(buckets[next].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                buckets[hole] = buckets[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        buckets[hole] = Bucket()
        count -= 1
        // Frees the memory that a burst of notifications has used.
        if buckets.count > 1024 && count * 8 < buckets.count { resize(to: buckets.count / 4) }
    }

    private mutating func resize(to size: Int) {
        let old = buckets
        buckets = ContiguousArray(repeating: Bucket(), count: size)
        for bucket in old where bucket.hash != 0 { put(bucket) }
    }
}

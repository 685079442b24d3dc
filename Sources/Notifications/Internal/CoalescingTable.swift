/// Where to find, by a hash, what waits: a hash table of places, without the keys.
///
/// A bucket takes eight bytes, so that the table of a hundred thousand is still near the processor; whoever asks compares
/// the keys, which are kept with what waits. A value, for one thread.
struct CoalescingTable {
    private struct Bucket {
        /// The hash, but never 0, which marks an empty bucket.
        var hash: UInt32 = 0
        var place: UInt32 = 0
    }

    private var buckets = ContiguousArray(repeating: Bucket(), count: 16)
    private(set) var count = 0

    private var mask: Int { buckets.count - 1 }

    /// Where a bucket is; valid until the table changes.
    struct Index {
        fileprivate let bucket: Int
    }

    /// Finds a place.
    ///
    /// - Parameters:
    ///   - hash: Its hash.
    ///   - isMeant: Whether a place with that hash is the one.
    /// - Returns: Where in the table it is; nil if it is not there.
    @inline(__always)
    func index(of hash: UInt32, where isMeant: (_ place: UInt32) -> Bool) -> Index? {
        let hash = max(hash, 1)
        var bucket = Int(hash) & mask
        while true {
            let found = buckets[bucket]
            // There is always an empty one.
            if found.hash == 0 { return nil }
            if found.hash == hash && isMeant(found.place) { return Index(bucket: bucket) }
            bucket = (bucket + 1) & mask
        }
    }

    /// The most buckets that a search looks at before it finds one that is there.
    ///
    /// Looks at all.
    var longestSearch: Int {
        buckets.indices.reduce(0) { longest, bucket in
            buckets[bucket].hash == 0
                ? longest : max(longest, (bucket - Int(buckets[bucket].hash)) & mask + 1)
        }
    }

    /// What is at an index.
    subscript(index: Index) -> UInt32 {
        get { buckets[index.bucket].place }
        set { buckets[index.bucket].place = newValue }
    }

    /// Adds a place that is not there.
    mutating func insert(_ place: UInt32, hash: UInt32) {
        // At most three quarters are filled, so that a search ends soon.
        if (count + 1) * 4 > buckets.count * 3 { resize(to: buckets.count * 2) }
        put(Bucket(hash: max(hash, 1), place: place))
        count += 1
    }

    private mutating func put(_ new: Bucket) {
        var bucket = Int(new.hash) & mask
        while buckets[bucket].hash != 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = new
    }

    /// Takes a place out.
    mutating func remove(at index: Index) {
        var hole = index.bucket
        var next = (hole + 1) & mask
        // Those behind it that could not have their own bucket move up, so that a search for them ends at no hole.
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
        // What a burst has taken is given back.
        if buckets.count > 1024 && count * 8 < buckets.count { resize(to: buckets.count / 4) }
    }

    private mutating func resize(to size: Int) {
        let old = buckets
        buckets = ContiguousArray(repeating: Bucket(), count: size)
        for bucket in old where bucket.hash != 0 { put(bucket) }
    }
}

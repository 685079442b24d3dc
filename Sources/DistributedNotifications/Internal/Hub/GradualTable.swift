/// A dictionary that grows by a little at each insertion, and never by all at once.
///
/// A `Dictionary` that is full moves all its elements into a larger one in one step, which takes some 100 ms for the topics that one
/// poster may have. This table splits one of its buckets when the others are full on average, so that every insertion takes the same
/// short time, whatever the number of elements: linear hashing. A removal frees what the element used.
struct GradualTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let hash: Int
        let key: Key
        var value: Value
    }

    /// The number of elements in a bucket at which, on average, a bucket is split.
    private static var mostOnAverage: Int { 8 }

    /// The elements, each in the bucket that ``bucket(of:)`` finds.
    private var buckets: [[Entry]] = [[]]
    /// The number of buckets before those of this round were added, a power of two.
    private var round = 1
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Returns the bucket of a hash: the buckets below the one to split next have a counterpart already.
    private func bucket(of hash: Int) -> Int {
        let place = hash & (2 * round - 1)
        return place < buckets.count ? place : place - round
    }

    private func place(of key: Key) -> (hash: Int, bucket: Int, index: Int?) {
        let hash = key.hashValue
        let bucket = bucket(of: hash)
        return (hash, bucket, buckets[bucket].firstIndex { $0.hash == hash && $0.key == key })
    }

    subscript(key: Key) -> Value? {
        get {
            let (_, bucket, index) = place(of: key)
            return index.map { buckets[bucket][$0].value }
        }
        set {
            let (hash, bucket, index) = place(of: key)
            switch (newValue, index) {
            case (let value?, let index?): buckets[bucket][index].value = value
            case (let value?, nil):
                buckets[bucket].append(Entry(hash: hash, key: key, value: value))
                count += 1
                if count > buckets.count * GradualTable.mostOnAverage { split() }
            case (nil, let index?): remove(at: index, of: bucket)
            case (nil, nil): break
            }
        }
    }

    /// Changes the value of a key in place.
    ///
    /// - Returns: The result of the closure; nil if the table does not contain the key.
    mutating func change<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        let (_, bucket, index) = place(of: key)
        return index.map { body(&buckets[bucket][$0].value) }
    }

    @discardableResult
    mutating func removeValue(forKey key: Key) -> Value? {
        let (_, bucket, index) = place(of: key)
        return index.map { remove(at: $0, of: bucket) }
    }

    @discardableResult
    private mutating func remove(at index: Int, of bucket: Int) -> Value {
        count -= 1
        buckets[bucket].swapAt(index, buckets[bucket].count - 1)
        let removed = buckets[bucket].removeLast().value
        if buckets[bucket].isEmpty { buckets[bucket] = [] }
        return removed
    }

    /// Removes and returns a few values, possibly none, so that a large table is emptied step by step; nil if the table is empty.
    mutating func removeSome() -> [Value]? {
        if count == 0 { return nil }
        // With fewer buckets, the counterpart of the last one stands for its hashes, too, and has none of them.
        guard let last = buckets.popLast() else { preconditionFailure("an element is in a bucket") }
        if buckets.isEmpty { buckets = [[]] }
        if buckets.count < round { round /= 2 }
        count -= last.count
        return last.map(\.value)
    }

    /// Moves the elements that belong to the next bucket there.
    private mutating func split() {
        let (split, bit) = (buckets.count - round, round)
        let kept = buckets[split].filter { $0.hash & bit == 0 }
        buckets.append(buckets[split].filter { $0.hash & bit != 0 })
        buckets[split] = kept
        if buckets.count == 2 * round { round *= 2 }
    }
}

extension GradualTable: Equatable where Value: Equatable {
    static func == (left: GradualTable, right: GradualTable) -> Bool {
        left.count == right.count
            && left.buckets.allSatisfy { $0.allSatisfy { right[$0.key] == $0.value } }
    }
}

extension GradualTable: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        // The order of the elements depends on those that were removed, so the sum does not depend on the order.
        var sum = 0
        for bucket in buckets {
            for entry in bucket {
                var one = Hasher()
                one.combine(entry.hash)
                one.combine(entry.value)
                sum &+= one.finalize()
            }
        }
        hasher.combine(sum)
    }
}

internal import CRunLoops
internal import Synchronization

/// A map from keys to observations, which many threads can use at the same time, by read-copy-update.
///
/// The keys are spread over shards, so threads that add or remove observations rarely wait for each other. A post takes no lock: it
/// looks up the key in a table that can change meanwhile, and takes one reference to the list that it finds. A list or table that
/// was replaced is released when no look-up can still be reading it.
///
/// With a lock around each look-up, a post to one observer took 2.3 times as long, and posts of different names from several
/// threads took 2.9 times as long.
///
/// `@safe`: the map owns the shards from `init` to `deinit`. `@unchecked Sendable`: atomics and locks guard the shards.
@safe
final class ObserverMap<Key: ObserverKey>: @unchecked Sendable {
    /// A part of the map, with a table of its own.
    ///
    /// A shard is alone on a pair of cache lines, because processors fetch cache lines in pairs.
    ///
    /// A thread that changes the table, or a list in it, holds the fork lock that the shard's address selects. So a forked child
    /// can add and remove observations, no matter what the other threads of its parent were doing at the fork. The fork lock lies
    /// on other cache lines than the shard.
    struct Shard: ~Copyable {
        /// The address of the shard's table, which the shard retains; 0 if there is no table.
        let table = Atomic<UInt>(0)
        private let padding = InlineArray<15, UInt64>(repeating: 0)

        static var size: Int { 128 }
    }

    private let shards: UnsafeMutablePointer<Shard>
    /// The number of shards minus one; the number of shards is a power of two.
    private let lastShard: Int
    let nextSequence: @Sendable () -> UInt64

    /// The number of keys that have observations.
    ///
    /// While this is 0, a look-up returns immediately, without reading a table.
    let keyCount = Atomic<Int>(0)

    /// Makes an empty map.
    ///
    /// - Parameters:
    ///   - shardCount: The number of shards; a power of two.
    ///   - nextSequence: Returns the number of the next observation.
    init(shardCount: Int, nextSequence: @escaping @Sendable () -> UInt64) {
        precondition(MemoryLayout<Shard>.stride == Shard.size, "a shard is alone on its cache lines")
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: shardCount * Shard.size, alignment: Shard.size)
        unsafe shards = memory.bindMemory(to: Shard.self, capacity: shardCount)
        for index in 0..<shardCount { unsafe (shards + index).initialize(to: Shard()) }
        lastShard = shardCount - 1
        self.nextSequence = nextSequence
    }

    /// Ends all observations in the map.
    ///
    /// The center that owns the map is being destroyed, so no thread posts to it.
    deinit {
        for index in 0...lastShard {
            guard let table = unsafe table(at: shards[index].table.exchange(0, ordering: .acquiring)) else {
                continue
            }
            unsafe table.takeUnretainedValue().forEach { _, list in
                for index in 0..<list.count {
                    let observation = unsafe list[index].takeUnretainedValue()
                    _ = observation.remove()
                    observation.target?.remove()
                }
            }
            unsafe table.release()
        }
        unsafe shards.deinitialize(count: lastShard + 1)
        unsafe shards.deallocate()
    }

    func table(at address: UInt) -> Unmanaged<ObserverTable<Key>>? {
        // Safe: the address is that of a shard's table, and the caller prevents the table from being released meanwhile.
        unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
    }

    /// The shard to which a key belongs.
    @inline(__always)
    func shard(of key: Key) -> UnsafeMutablePointer<Shard> {
        unsafe shards + (Int(truncatingIfNeeded: key.spreadHash >> 48) & lastShard)
    }

    /// Returns the observations that are registered under a key at this moment.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - record: The calling thread's record.
    /// - Returns: The observations, perhaps none.
    @inline(__always)
    func observers(of key: Key, _ record: CallRecord) -> Observers {
        if keyCount.load(ordering: .acquiring) == 0 { return Observers(nil) }
        let shard = unsafe shard(of: key)
        let list: ObserverList? = record.lookUp {
            guard let table = unsafe table(at: shard.pointee.table.load(ordering: .acquiring)) else {
                return nil
            }
            // Safe: a table that is replaced meanwhile lives until the end of the look-up.
            let list = unsafe table._withUnsafeGuaranteedRef { $0.list(for: key) }
            list?.retain()
            return list
        }
        return Observers(list)
    }

    /// The observations that a post calls, all of one key.
    ///
    /// If there are any, this value holds a reference to the list of them.
    struct Observers: ~Copyable {
        private let list: ObserverList?
        let count: Int

        /// Makes a value from a list of observations, and takes over the caller's reference to the list.
        @inline(__always)
        fileprivate init(_ list: ObserverList?) {
            self.list = list
            count = list?.count ?? 0
        }

        @inline(__always)
        deinit { list?.release() }

        /// The observation at an index less than ``count``.
        ///
        /// The observation lives at least until this `Observers` value is destroyed.
        @inline(__always)
        subscript(index: Int) -> Unmanaged<Observation> {
            guard let list else { preconditionFailure("there are no observations") }
            return unsafe list[index]
        }
    }
}

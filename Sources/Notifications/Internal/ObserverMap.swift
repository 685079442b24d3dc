internal import CThreads
internal import Synchronization

/// Who observes what, by key, for many threads at once.
///
/// The keys are spread over shards, so that threads that register and remove seldom meet at a lock. A post takes no lock: it
/// looks the key up in a table that may change meanwhile, and takes one reference to the list it finds. What is replaced
/// is let go of when no look-up can be reading it any more.
///
/// `@safe`: the shards are the map's from `init` to `deinit`. `@unchecked Sendable`: they are shared by atomics and locks.
@safe
final class ObserverMap<Key: ObserverKey>: @unchecked Sendable {
    /// Alone on its cache lines, a pair as processors fetch them: with the padding 128 bytes.
    ///
    /// A thread that changes the table, or something in it, holds the fork lock of the shard's address: a forked child may add
    /// and remove, whatever the other threads of its parent did. The lock lies on cache lines of its own.
    private struct Shard: ~Copyable {
        /// The address of the table, which the shard holds; 0 for none.
        let table = Atomic<UInt>(0)
        private let padding = InlineArray<15, UInt64>(repeating: 0)

        static var size: Int { 128 }
    }

    private let shards: UnsafeMutablePointer<Shard>
    /// One less than a power of two.
    private let lastShard: Int
    private let nextSequence: @Sendable () -> UInt64

    /// How many keys somebody observes; 0 lets a post pass at once.
    private let keyCount = Atomic<Int>(0)

    /// Makes an empty map.
    ///
    /// - Parameters:
    ///   - shardCount: How many shards; a power of two.
    ///   - nextSequence: Numbers the observations.
    init(shardCount: Int, nextSequence: @escaping @Sendable () -> UInt64) {
        precondition(MemoryLayout<Shard>.stride == Shard.size, "a shard has its cache lines for itself")
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: shardCount * Shard.size, alignment: Shard.size)
        unsafe shards = memory.bindMemory(to: Shard.self, capacity: shardCount)
        for index in 0..<shardCount { unsafe (shards + index).initialize(to: Shard()) }
        lastShard = shardCount - 1
        self.nextSequence = nextSequence
    }

    /// The center goes, and nobody posts to it any more.
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

    private func table(at address: UInt) -> Unmanaged<ObserverTable<Key>>? {
        // Safe: the address is that of a table which a shard held, and which the caller keeps from being let go of.
        unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
    }

    /// Spreads what the keys themselves spread badly.
    @inline(__always)
    private func hash(of key: Key) -> UInt {
        let product = UInt(bitPattern: key.shardHash) &* 0x9E37_79B9_7F4A_7C15
        return product ^ (product >> 32)
    }

    // MARK: - Posting

    /// The observations of a key as they are now.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - record: The calling thread's.
    /// - Returns: The observations, or none.
    @inline(__always)
    func observers(of key: Key, _ record: CallRecord) -> Observers {
        if keyCount.load(ordering: .acquiring) == 0 { return Observers(nil) }
        let hash = hash(of: key)
        let shard = Int(truncatingIfNeeded: hash >> 48) & lastShard
        let list: ObserverList? = record.lookUp {
            guard let table = unsafe table(at: shards[shard].table.load(ordering: .acquiring)) else {
                return nil
            }
            // Safe: what is replaced meanwhile lives until the end of the look-up.
            let list = unsafe table._withUnsafeGuaranteedRef { $0.list(for: key, hash: hash) }
            list?.retain()
            return list
        }
        return Observers(list)
    }

    /// The observations that a post calls: a reference to their list, or nothing.
    struct Observers: ~Copyable {
        private let list: ObserverList?
        let count: Int

        /// Takes the reference over.
        @inline(__always)
        fileprivate init(_ list: ObserverList?) {
            self.list = list
            count = list?.count ?? 0
        }

        @inline(__always)
        deinit { list?.release() }

        /// One of the first ``count``, which lives as long as this.
        @inline(__always)
        subscript(index: Int) -> Unmanaged<Observation> {
            guard let list else { preconditionFailure("nothing has no elements") }
            return unsafe list[index]
        }
    }

    // MARK: - Registering and forgetting

    /// What was replaced, and is let go of when nobody reads it any more.
    private struct Replaced {
        var lists: [ObserverList] = []
        var table: ObserverTable<Key>?

        consuming func release() {
            if lists.isEmpty && table == nil { return }
            CallRecord.waitForReaders()
            for list in lists { list.release() }
            table = nil
        }
    }

    /// Changes the table of a key's shard.
    ///
    /// What is let go of may be the last reference to user code's objects, and goes after the lock.
    private func change<Result>(
        _ key: Key,
        _ body: (_ table: inout ObserverTable<Key>?, _ hash: UInt, _ replaced: inout Replaced) -> Result
    ) -> Result {
        let hash = hash(of: key)
        let shard = Int(truncatingIfNeeded: hash >> 48) & lastShard
        var replaced = Replaced()
        let result = locked(shard) {
            let held = unsafe table(at: shards[shard].table.load(ordering: .relaxed))
            let before = unsafe held?.takeUnretainedValue()
            var table = before
            let result = body(&table, hash, &replaced)
            if table !== before {
                let address =
                    table.map { unsafe UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
                unsafe shards[shard].table.store(address, ordering: .releasing)
                replaced.table = unsafe held?.takeRetainedValue()
            }
            return result
        }
        replaced.release()
        return result
    }

    private func locked<Result>(_ shard: Int, _ body: () -> Result) -> Result {
        // Safe: only the address counts.
        unsafe runloops_fork_lock(shards + shard)
        defer { unsafe runloops_fork_unlock(shards + shard) }
        return body()
    }

    /// Registers an observation, last in order.
    func add<Added: Observation>(for key: Key, _ make: (_ sequence: UInt64) -> Added) -> Added {
        change(key) { table, hash, replaced in
            let observation = make(nextSequence())
            let known = table?.list(for: key, hash: hash)
            if let known, known.append(observation) { return observation }
            let list = known?.compacted() ?? ObserverList(capacity: 2)
            _ = list.append(observation)
            let roomy: ObserverTable<Key>
            if let table, known != nil || !table.isFull {
                roomy = table
            } else {
                roomy = table?.rebuilt(hashing: hash(of:)) ?? ObserverTable(roomFor: 1)
            }
            table = roomy
            if let old = roomy.set(list, for: key, hash: hash) { replaced.lists.append(old) }
            if known == nil { keyCount.add(1, ordering: .acquiringAndReleasing) }
            return observation
        }
    }

    /// Forgets an observation that was removed.
    func forget(for key: Key) {
        change(key) { table, hash, replaced in
            guard let current = table, let list = current.list(for: key, hash: hash), list.noteRemoval()
            else { return }
            let kept = list.compacted()
            let old: ObserverList?
            if kept.count > 0 {
                old = current.set(kept, for: key, hash: hash)
            } else {
                kept.release()
                old = current.remove(key, hash: hash)
                keyCount.subtract(1, ordering: .acquiringAndReleasing)
                if current.count == 0 {
                    table = nil
                } else if current.isSparse {
                    table = current.rebuilt(hashing: hash(of:))
                }
            }
            if let old { replaced.lists.append(old) }
        }
    }
}

internal import RunLoops
internal import Synchronization

/// What observations can be registered under.
protocol ObserverKey: Hashable, Sendable {
    /// Spreads the keys over the shards; cheap.
    var shardHash: Int { get }
}

extension ObjectIdentifier: ObserverKey {
    // Objects are 16 bytes apart at least.
    var shardHash: Int { Int(bitPattern: self) >> 4 }
}

/// Who observes what, by key, for many threads at once.
///
/// The keys are spread over shards, each behind a lock of its own that is held for a look-up and never during a call: threads
/// that post different keys do not wait for each other. A post takes a snapshot of its key's observations: an array that is
/// never changed again, one reference.
final class ObserverMap<Key: ObserverKey>: Sendable {
    /// The observations of one key, in order of registration.
    typealias Snapshot = ContiguousArray<Observation>

    private struct Entry {
        var observations = Snapshot()
        /// How many of them were removed: they stay until there are many, and are skipped.
        var removedCount = 0
    }

    /// A shard, alone on its cache lines.
    private final class Shard: Sendable {
        let entries = Guarded<[Key: Entry]>([:])
        private let padding = InlineArray<14, UInt64>(repeating: 0)
    }

    private let shards: [Shard]
    private let nextSequence: @Sendable () -> UInt64

    /// How many keys somebody observes; 0 lets a post pass without a lock.
    private let keyCount = Atomic<Int>(0)

    init(shards: Int, nextSequence: @escaping @Sendable () -> UInt64) {
        self.shards = (0..<shards).map { _ in Shard() }
        self.nextSequence = nextSequence
    }

    @inline(__always)
    private func shard(for key: Key) -> Shard { shards[key.shardHash & (shards.count - 1)] }

    /// The observations of a key as they are now.
    @inline(__always)
    func snapshot(for key: Key) -> Snapshot? {
        if keyCount.load(ordering: .acquiring) == 0 { return nil }
        return shard(for: key).entries.withLock { $0[key]?.observations }
    }

    /// Registers an observation, last in order.
    func add<Added: Observation>(for key: Key, _ make: (_ sequence: UInt64) -> Added) -> Added {
        shard(for: key).entries.withLock { entries in
            let observation = make(nextSequence())
            if entries[key] == nil { keyCount.add(1, ordering: .acquiringAndReleasing) }
            entries[key, default: Entry()].observations.append(observation)
            return observation
        }
    }

    /// The center goes, and nobody posts to it any more.
    deinit {
        for shard in shards {
            for entry in shard.entries.withLock({ $0 }).values {
                for observation in entry.observations {
                    _ = observation.remove()
                    observation.target?.remove()
                }
            }
        }
    }

    /// Forgets an observation that was removed.
    func forget(for key: Key) {
        // What is let go of here may be the last reference to user code's objects: after the lock.
        var dropped = Snapshot()
        shard(for: key).entries.withLock { entries in
            guard var entry = entries[key] else { return }
            entry.removedCount += 1
            if entry.removedCount * 2 >= entry.observations.count {
                dropped = entry.observations
                entry.observations.removeAll { $0.isRemoved }
                entry.removedCount = 0
            }
            if entry.observations.isEmpty {
                entries[key] = nil
                keyCount.subtract(1, ordering: .acquiringAndReleasing)
            } else {
                entries[key] = entry
            }
        }
        _ = dropped
    }
}

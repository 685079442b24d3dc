internal import CRunLoops
internal import Synchronization

/// Methods that change an ``ObserverMap``.
///
/// A list or table that cannot be changed in place is replaced by a copy.
extension ObserverMap {
    /// Makes an observation, and registers it under a key, after all existing observations.
    func add<Added: Observation>(for key: Key, _ make: (_ sequence: UInt64) -> Added) -> Added {
        change(key) { table, replaced in
            let observation = make(nextSequence())
            let known = table?.list(for: key)
            if let known, known.append(observation) { return observation }
            let list = known?.compacted() ?? ObserverList(capacity: 2)
            _ = list.append(observation)
            let roomy: ObserverTable<Key>
            if let table, known != nil || !table.isFull {
                roomy = table
            } else {
                roomy = table?.rebuilt() ?? ObserverTable(roomFor: 1)
            }
            table = roomy
            if let old = roomy.set(list, for: key) { replaced.lists.append(old) }
            if known == nil { keyCount.add(1, ordering: .acquiringAndReleasing) }
            return observation
        }
    }

    /// Records that an observation of a key was removed.
    ///
    /// If at least half of the observations in the key's list were removed, the list is replaced by a list of the remaining
    /// observations. If no observation is left, the key is removed from the table.
    func forget(for key: Key) {
        change(key) { table, replaced in
            guard let current = table, let list = current.list(for: key), list.noteRemoval() else { return }
            let kept = list.compacted()
            let old: ObserverList?
            if kept.count > 0 {
                old = current.set(kept, for: key)
            } else {
                kept.release()
                old = current.remove(key)
                keyCount.subtract(1, ordering: .acquiringAndReleasing)
                if current.count == 0 {
                    table = nil
                } else if current.isSparse {
                    table = current.rebuilt()
                }
            }
            if let old { replaced.lists.append(old) }
        }
    }

    /// Changes the table that contains a key, under the lock of the key's shard.
    ///
    /// A list or table that was replaced can hold the last reference to an object of the user. So the list or table is released
    /// only after the lock has been unlocked.
    private func change<Result>(
        _ key: Key,
        _ body: (_ table: inout ObserverTable<Key>?, _ replaced: inout Replaced) -> Result
    ) -> Result {
        let shard = unsafe shard(of: key)
        var replaced = Replaced()
        let result = unsafe locked(shard) {
            let held = unsafe table(at: shard.pointee.table.load(ordering: .relaxed))
            let before = unsafe held?.takeUnretainedValue()
            var table = before
            let result = body(&table, &replaced)
            if table !== before {
                let address =
                    table.map { unsafe UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
                unsafe shard.pointee.table.store(address, ordering: .releasing)
                replaced.table = unsafe held?.takeRetainedValue()
            }
            return result
        }
        replaced.release()
        return result
    }

    private func locked<Result>(_ shard: UnsafeMutablePointer<Shard>, _ body: () -> Result) -> Result {
        // Safe: only the address of the shard is used.
        unsafe runloops_fork_lock(shard)
        defer { unsafe runloops_fork_unlock(shard) }
        return body()
    }

    /// The old lists and the old table of a map, after a change has replaced them.
    private struct Replaced {
        var lists: [ObserverList] = []
        var table: ObserverTable<Key>?

        /// Waits until no look-up can still be reading the lists and the table, then releases them.
        consuming func release() {
            if lists.isEmpty && table == nil { return }
            CallRecord.waitForReaders()
            for list in lists { list.release() }
            table = nil
        }
    }
}

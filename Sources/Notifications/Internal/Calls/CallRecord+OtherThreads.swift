internal import CThreads
internal import Glibc
internal import RunLoops
internal import Synchronization

/// The records of all threads, as a removal or a writer of an ``ObserverMap`` reads them.
extension CallRecord {
    /// True if any thread is calling an observation.
    ///
    /// Call this after the observation was marked as removed. If the result is false, no thread will call it: each has seen
    /// the mark.
    static func isCalledByAnyThread(_ observation: Observation) -> Bool {
        runloops_heavy_fence()
        let wanted = UInt(bitPattern: ObjectIdentifier(observation))
        return first { $0.publishes(wanted) } != nil
    }

    private func publishes(_ wanted: UInt) -> Bool {
        for index in 0..<CallRecord.capacity {
            if unsafe storage.pointee.calls[index].load(ordering: .acquiring) == wanted { return true }
        }
        return false
    }

    /// Waits until every look-up that is running now has ended.
    ///
    /// Call this after replacing something that look-ups read: when it returns, no thread reads the old version.
    static func waitForReaders() {
        runloops_heavy_fence()
        var next = newest
        while let record = next {
            record.waitForReader()
            next = unsafe record.storage.pointee.older
        }
    }

    private func waitForReader() {
        let seen = unsafe storage.pointee.lookUps.load(ordering: .acquiring)
        if seen & 1 == 0 { return }
        var attempts = 0
        // `usleep` is a cancellation point: a cancelled thread would end here, in the middle of a removal that other threads
        // may wait for.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        // A look-up takes a few nanoseconds, unless its thread has lost its processor. If it has lost it to this thread and
        // this is a real-time thread, yielding would never give the processor back, so this sleeps.
        while unsafe storage.pointee.lookUps.load(ordering: .acquiring) == seen {
            attempts += 1
            if attempts < 100 { sched_yield() } else { usleep(50) }
        }
    }

    /// The newest record that satisfies a condition.
    static func first(where isWanted: (CallRecord) -> Bool) -> CallRecord? {
        var next = newest
        while let record = next {
            if isWanted(record) { return record }
            next = unsafe record.storage.pointee.older
        }
        return nil
    }
}

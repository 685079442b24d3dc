internal import CRunLoops
internal import Glibc
internal import RunLoops
internal import Synchronization

/// Functions that read the records of all threads.
///
/// They are called when an observation is removed, and by the writers of an ``ObserverMap``.
extension CallRecord {
    /// True if any thread is calling the handler of an observation.
    ///
    /// Call this after ``ObservationState/removed`` was added to the observation's state. If the result is false, no thread will
    /// call the observation after this, because every thread reads the state before it calls the observation.
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

    /// Waits for the end of all look-ups that other threads have begun, in any ``ObserverMap``.
    ///
    /// A writer calls this after it has replaced a value that look-ups read. When this returns, no thread reads the old value.
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
        // `usleep` is a cancellation point. If cancellation stayed enabled, a cancelled thread would end here, in the middle of a
        // removal whose end other threads may be waiting for.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        // A look-up takes a few nanoseconds, unless its thread was preempted. If the calling thread is a real-time thread that has
        // preempted the reading thread, `sched_yield` would never let the reading thread continue. So the calling thread sleeps
        // after some attempts.
        while unsafe storage.pointee.lookUps.load(ordering: .acquiring) == seen {
            attempts += 1
            if attempts < 100 { sched_yield() } else { usleep(50) }
        }
    }

    /// Returns the newest record that satisfies a condition; nil if there is none.
    static func first(where isWanted: (CallRecord) -> Bool) -> CallRecord? {
        var next = newest
        while let record = next {
            if isWanted(record) { return record }
            next = unsafe record.storage.pointee.older
        }
        return nil
    }
}

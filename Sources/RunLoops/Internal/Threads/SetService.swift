internal import CThreads
internal import Synchronization

/// Which thread serves which port sets, for those who look for circles of waits.
///
/// A thread that waits elsewhere gives nothing to those who wait for a port of a set that it serves.
enum SetService {
    /// The sets that are served, by the numbers of threads.
    private static let served = Guarded<[UInt: [UInt]]>([:])

    /// The number of the calling thread, which no other one ever has.
    static var thread: UInt { UInt(runloops_thread_number()) }

    /// Another thread serves a set now; 0 stands for none.
    ///
    /// - Parameters:
    ///   - set: The set.
    ///   - server: The set's own note of who serves it, changed in here: of two threads that serve it in turn, the last one to
    ///     say so must be the last one here, too.
    ///   - new: The thread.
    ///   - midway: What a test does between the set's note and the table's.
    static func changes(
        _ set: UInt, _ server: borrowing Atomic<UInt>, to new: UInt, midway: () -> Void = {}
    ) {
        // Its end is to be noticed: it serves nothing any more then.
        if new != 0 { ThreadEnd.watch() }
        served.withLock { served in
            let old = server.exchange(new, ordering: .relaxed)
            if old == new { return }
            midway()
            if old != 0, var sets = served[old] {
                sets.removeAll { $0 == set }
                served[old] = sets.isEmpty ? nil : sets
            }
            if new != 0 { served[new, default: []].append(set) }
        }
    }

    /// The sets that the calling thread serves.
    static var here: [UInt] {
        if !runloops_thread_has_number() { return [] }
        return served.withLock { $0[thread] ?? [] }
    }

    /// The calling thread ends.
    static func endCurrent() {
        if !runloops_thread_has_number() { return }
        served.withLock { _ = $0.removeValue(forKey: thread) }
    }
}

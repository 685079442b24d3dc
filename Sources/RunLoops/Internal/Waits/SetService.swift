internal import CThreads
internal import Synchronization

/// Which thread serves which port sets, for those who look for circles of waits.
///
/// A thread that waits elsewhere gives nothing to those who wait for a port of a set that it serves.
enum SetService {
    /// The numbers of the threads, by the sets that they serve.
    private static let servers = Guarded<[UInt: UInt]>([:])

    /// The number of the calling thread, which no other one ever has.
    static var thread: UInt { UInt(runloops_thread_number()) }

    /// The same, unless the thread has never served a set.
    static var threadIfServing: UInt? { runloops_thread_has_number() ? thread : nil }

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
        if new != 0 {
            ThreadEnd.watch(.portSets) {
                SetService.endCurrent()
                return nil
            }
        }
        servers.withLock { servers in
            if server.exchange(new, ordering: .relaxed) == new { return }
            midway()
            servers[set] = new == 0 ? nil : new
        }
    }

    /// Whether the calling thread serves a set; of what is no set, it does not.
    static func isHere(_ set: UInt) -> Bool {
        guard let thread = threadIfServing else { return false }
        return servers.withLock { $0[set] } == thread
    }

    /// What whoever waits for a receiver waits for.
    ///
    /// - Parameter receiver: The identity of a set or of a loop's handle, as ``Claim/holderID`` has it.
    /// - Returns: The thread that serves the set now, or the loop.
    static func holding(of receiver: UInt) -> Holding {
        servers.withLock { $0[receiver] }.map { .thread($0) } ?? .loop(receiver)
    }

    /// The calling thread ends.
    static func endCurrent() {
        guard let thread = threadIfServing else { return }
        servers.withLock { servers in
            for (set, server) in servers where server == thread { servers[set] = nil }
        }
    }
}

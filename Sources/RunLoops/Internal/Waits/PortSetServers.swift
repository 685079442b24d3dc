internal import CThreads
internal import Synchronization

/// The threads that serve port sets, for the search for threads that wait for each other in a circle.
///
/// A thread that blocks in a wait receives nothing from its port sets until the wait is over. So if a thread waits for a port that
/// is in a set, it waits for the thread that serves the set.
enum PortSetServers {
    /// The identifier of the thread that serves each set, by the identity of the set.
    private static let servers = Guarded<[UInt: UInt]>([:])

    /// The identifier of the calling thread; no other thread ever has the same identifier.
    static var thread: UInt { UInt(runloops_thread_number()) }

    /// The identifier of the calling thread; nil if the thread has never served a set.
    static var threadIfServing: UInt? { runloops_thread_has_number() ? thread : nil }

    /// Records that a thread serves a set from now on.
    ///
    /// - Parameters:
    ///   - set: The identity of the set.
    ///   - server: The set's own record of its thread. This function changes the record and the table of all sets under one lock.
    ///     So the two name the same thread, even if two threads serve the set in turn.
    ///   - new: The identifier of the thread; 0 for no thread.
    ///   - midway: A hook for tests, called after the change of the set's record and before the change of the table.
    static func record(
        _ set: UInt, _ server: borrowing Atomic<UInt>, to new: UInt, midway: () -> Void = {}
    ) {
        // When the thread ends, its sets are removed from the table, because a thread that has ended serves no set.
        if new != 0 {
            ThreadEnd.watch(.portSets) {
                PortSetServers.endCurrent()
                return nil
            }
        }
        servers.withLock { servers in
            if server.exchange(new, ordering: .relaxed) == new { return }
            midway()
            servers[set] = new == 0 ? nil : new
        }
    }

    /// Returns true if the calling thread serves the port set with a given identity.
    ///
    /// The result is also false if no set has this identity.
    static func isServedHere(_ set: UInt) -> Bool {
        guard let thread = threadIfServing else { return false }
        return servers.withLock { $0[set] } == thread
    }

    /// Returns the thread or loop that receives for a port, and so is the target of a wait for that port.
    ///
    /// - Parameter receiver: The identity of the port's receiver: of a port set or of a loop's handle, as in ``Claim/holderID``.
    /// - Returns: The thread that now serves the set; if the receiver is not a set, the loop.
    static func waitTarget(of receiver: UInt) -> WaitTarget {
        servers.withLock { $0[receiver] }.map { .thread($0) } ?? .loop(receiver)
    }

    /// Removes the sets that the calling thread serves from the table, because the thread ends.
    static func endCurrent() {
        guard let thread = threadIfServing else { return }
        servers.withLock { servers in
            for (set, server) in servers where server == thread { servers[set] = nil }
        }
    }
}

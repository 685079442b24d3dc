internal import CRunLoops
internal import Synchronization

/// A table of the threads that serve port sets.
///
/// The table is used to find circles of threads that wait for each other.
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
    ///   - server: The set's own variable for the thread that serves it. This function changes the variable and the table of all
    ///     sets under one lock. So the variable and the table name the same thread, even if another thread begins to serve the set
    ///     at the same time.
    ///   - new: The identifier of the thread; 0 for no thread.
    ///   - midway: A hook for tests, called after the change of the set's variable and before the change of the table.
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

    /// Returns the target of a wait for a port: the thread or loop that receives the port's messages.
    ///
    /// - Parameter receiver: The identity of the port's receiver, which is a port set or a loop's handle, as in ``Claim/holderID``.
    /// - Returns: The thread that serves the set, if the table has one for the receiver. Otherwise, a loop with the receiver's
    ///   identity.
    static func waitTarget(of receiver: UInt) -> WaitTarget {
        servers.withLock { $0[receiver] }.map { .thread($0) } ?? .loop(receiver)
    }

    /// Removes from the table all sets that the calling thread serves, because the thread ends.
    static func endCurrent() {
        guard let thread = threadIfServing else { return }
        servers.withLock { servers in
            for (set, server) in servers where server == thread { servers[set] = nil }
        }
    }
}

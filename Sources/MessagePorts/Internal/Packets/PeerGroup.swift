internal import Glibc
internal import RunLoops

/// A group of peer processes whose descriptors are counted and closed together.
///
/// A process that runs as the same user as this process is a group of its own. All processes of another user are one group,
/// because a user can have any number of processes. No group delays the closing of another group's descriptors.
///
/// > Thread safety: any thread.
final class PeerGroup: Sendable {
    /// The identity of a group: one process, or a user with all of its processes.
    struct Key: Hashable, Sendable {
        let user: UInt32
        /// The ID of the process; 0 for all processes of another user, and for processes that the kernel cannot identify to this
        /// process.
        let process: CInt

        init(_ peer: PeerCredentials) {
            user = peer.userID
            process = peer.userID == geteuid() ? peer.processID : 0
        }

        private init(user: UInt32, process: CInt) {
            self.user = user
            self.process = process
        }

        /// The group of all peers whose credentials the kernel does not report.
        static let unknown = Key(user: .max, process: -1)
    }

    let key: Key
    let counter = DescriptorCounter()

    private init(_ key: Key) { self.key = key }

    // MARK: - All groups

    /// A group, and the number of ``DescriptorQuota`` objects that belong to it.
    ///
    /// The entry is removed when its last quota leaves the group.
    private struct Entry: Sendable {
        let group: PeerGroup
        var quotas = 0
    }

    private static let entries = Guarded<[Key: Entry]>([:])

    /// Adds one quota to the group with the given key, and returns the group.
    ///
    /// If the group does not exist, it is made.
    static func join(_ key: Key) -> PeerGroup {
        entries.withLock { entries in
            var entry = entries[key] ?? Entry(group: PeerGroup(key))
            entry.quotas += 1
            entries[key] = entry
            return entry.group
        }
    }

    /// Removes one quota from the group.
    func leave() {
        PeerGroup.entries.withLock { entries in
            guard var entry = entries[key] else { preconditionFailure("a group exists while it has quotas") }
            entry.quotas -= 1
            entries[key] = entry.quotas == 0 ? nil : entry
        }
    }
}

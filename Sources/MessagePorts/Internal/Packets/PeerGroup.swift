internal import Glibc
internal import RunLoops

/// The peers whose descriptors are counted and closed together.
///
/// No group delays the closing of another group's descriptors. Each process of this process's user is a separate group. All
/// processes of another user are one group, because a user can have any number of processes.
///
/// > Thread safety: any thread.
final class PeerGroup: Sendable {
    /// A process, or a user with all of its processes.
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

        /// The group of peers whose credentials the kernel does not report.
        static let unknown = Key(user: .max, process: -1)
    }

    let key: Key
    let counter = DescriptorCounter()

    private init(_ key: Key) { self.key = key }

    // MARK: - All groups

    /// A group, and the number of quotas that belong to it.
    ///
    /// The group is removed with its last quota.
    private struct Entry: Sendable {
        let group: PeerGroup
        var quotas = 0
    }

    private static let entries = Guarded<[Key: Entry]>([:])

    /// Adds one quota to a group, and returns the group.
    ///
    /// Makes the group if it does not exist.
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

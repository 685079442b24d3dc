internal import Glibc
internal import RunLoops

/// The peers whose descriptors are counted and closed together: those of one lane hold up those of no other.
///
/// A process of this process's own user is a lane of its own, and all processes of another user are one together: they may be
/// any number.
///
/// > Thread safety: any thread.
final class DescriptorLane: Sendable {
    /// A process, or a user with all its processes.
    struct Key: Hashable, Sendable {
        let user: UInt32
        /// 0 for all processes of the user, and for those that the kernel cannot name here.
        let process: CInt

        init(_ peer: PeerCredentials) {
            user = peer.userID
            process = peer.userID == geteuid() ? peer.processID : 0
        }

        private init(user: UInt32, process: CInt) {
            self.user = user
            self.process = process
        }

        /// The lane of peers that the kernel does not name.
        static let unknown = Key(user: .max, process: -1)
    }

    let key: Key
    let tally = DescriptorTally()

    private init(_ key: Key) { self.key = key }

    // MARK: - All of them

    /// A lane, and the number of accounts that are part of it: it is forgotten with the last one.
    private struct Known: Sendable {
        let lane: DescriptorLane
        var accounts = 0
    }

    private static let known = Guarded<[Key: Known]>([:])

    /// Finds a lane for one more account, or makes it.
    static func join(_ key: Key) -> DescriptorLane {
        known.withLock { known in
            var entry = known[key] ?? Known(lane: DescriptorLane(key))
            entry.accounts += 1
            known[key] = entry
            return entry.lane
        }
    }

    /// An account of the lane has ended.
    func leave() {
        DescriptorLane.known.withLock { known in
            guard var entry = known[key] else { preconditionFailure("a lane is known while it has accounts") }
            entry.accounts -= 1
            known[key] = entry.accounts == 0 ? nil : entry
        }
    }
}

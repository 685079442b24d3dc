/// The counts of a port's connections, for each process and for each user.
///
/// With these counts, the port limits the connections of each process, and of each user except its own user. So a single process
/// cannot take all connections, and a single other user cannot either. If the kernel cannot identify processes, it reports 0 as
/// the ID of each. Such processes with the same user ID share a single count.
struct ConnectionQuota: Sendable {
    private struct Process: Hashable {
        let user: UInt32
        let number: CInt
    }

    private let limits: MessagePort.Options
    private let ownUser: UInt32
    private var processes: [Process: Int] = [:]
    private var users: [UInt32: Int] = [:]

    /// Makes a quota that counts no connections yet.
    ///
    /// - Parameters:
    ///   - limits: The limits for each process and each user.
    ///   - ownUser: The user of the port, to whom the limit for each user does not apply.
    init(_ limits: MessagePort.Options, ownUser: UInt32) {
        self.limits = limits
        self.ownUser = ownUser
    }

    /// Counts a connection, unless the peer's process or user already has the maximum number of connections.
    ///
    /// - Returns: True if the connection is counted.
    mutating func take(_ peer: PeerCredentials) -> Bool {
        let process = Process(user: peer.userID, number: peer.processID)
        let (ofProcess, ofUser) = (processes[process, default: 0], users[peer.userID, default: 0])
        if ofProcess >= limits.connectionLimitPerProcess { return false }
        if peer.userID != ownUser && ofUser >= limits.connectionLimitPerUser { return false }
        processes[process] = ofProcess + 1
        users[peer.userID] = ofUser + 1
        return true
    }

    /// Stops counting a connection that ``take(_:)`` has counted.
    mutating func giveBack(_ peer: PeerCredentials) {
        ConnectionQuota.countDown(Process(user: peer.userID, number: peer.processID), in: &processes)
        ConnectionQuota.countDown(peer.userID, in: &users)
    }

    /// Subtracts one connection from the count of a process or of a user.
    ///
    /// If no connection is left, the key is removed.
    private static func countDown<Key: Hashable>(_ key: Key, in counts: inout [Key: Int]) {
        guard let count = counts[key] else {
            preconditionFailure("a connection is counted before it is given back")
        }
        counts[key] = count == 1 ? nil : count - 1
    }

    var isEmpty: Bool { processes.isEmpty && users.isEmpty }
}

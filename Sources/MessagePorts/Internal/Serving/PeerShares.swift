/// How many connections each process has to a port, and each other user, so that none of them takes those of all.
///
/// A process that the kernel cannot name here is one with all others of which that is so.
struct PeerShares: Sendable {
    private struct Process: Hashable {
        let user: UInt32
        let number: CInt
    }

    private let limits: MessagePort.Limits
    private let ownUser: UInt32
    private var processes: [Process: Int] = [:]
    private var users: [UInt32: Int] = [:]

    /// Notes that nobody has a connection.
    ///
    /// - Parameters:
    ///   - limits: How many each may have.
    ///   - ownUser: The port's, which has a share of everything.
    init(_ limits: MessagePort.Limits, ownUser: UInt32) {
        self.limits = limits
        self.ownUser = ownUser
    }

    /// Counts a connection, if its process and its user have not as many as they may.
    ///
    /// - Returns: Whether it is counted.
    mutating func take(_ peer: PeerCredentials) -> Bool {
        let process = Process(user: peer.userID, number: peer.processID)
        let (ofProcess, ofUser) = (processes[process, default: 0], users[peer.userID, default: 0])
        if ofProcess >= limits.connectionsPerProcess { return false }
        if peer.userID != ownUser && ofUser >= limits.connectionsPerUser { return false }
        processes[process] = ofProcess + 1
        users[peer.userID] = ofUser + 1
        return true
    }

    /// A connection that was counted is no more.
    mutating func giveBack(_ peer: PeerCredentials) {
        PeerShares.countDown(Process(user: peer.userID, number: peer.processID), in: &processes)
        PeerShares.countDown(peer.userID, in: &users)
    }

    /// Nobody is remembered who has none.
    private static func countDown<Key: Hashable>(_ key: Key, in counts: inout [Key: Int]) {
        guard let count = counts[key] else { preconditionFailure("what is given back was taken") }
        counts[key] = count == 1 ? nil : count - 1
    }

    var isEmpty: Bool { processes.isEmpty && users.isEmpty }
}

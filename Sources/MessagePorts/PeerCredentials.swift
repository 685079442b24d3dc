/// Which process is at the other end of a connection, as the kernel tells, whatever that process says.
///
/// The kernel notes them once: of a client when it connects, of a server when it starts to listen. A process that has
/// given its descriptor away since, or has changed its user, is still told of as it was then.
///
/// The number of a process may be another one's by now, once that one has ended; do not grant anything by it alone. What
/// the kernel cannot tell in this process's namespaces reads as process 0, or as the system's user and group for those
/// that have no number here.
///
/// > Thread safety: a value.
public struct PeerCredentials: Hashable, Sendable {
    /// The number of the process.
    public let processID: CInt

    /// The user that the process acted as.
    public let userID: UInt32

    /// The group that the process acted as.
    public let groupID: UInt32

    /// Makes credentials, such as those to compare with.
    ///
    /// - Parameters:
    ///   - processID: The number of the process.
    ///   - userID: The user that the process acts as.
    ///   - groupID: The group that the process acts as.
    public init(processID: CInt, userID: UInt32, groupID: UInt32) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
    }
}

extension PeerCredentials: CustomStringConvertible {
    /// Words for a log, as in `process 4711 of user 1000, group 1000`.
    public var description: String { "process \(processID) of user \(userID), group \(groupID)" }
}

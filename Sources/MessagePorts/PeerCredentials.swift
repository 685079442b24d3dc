/// The process at the other end of a connection, as the kernel reports it, and not as the process describes itself.
///
/// The kernel records the credentials once: those of a client when it connects, and those of a server when it starts to listen. If
/// a process has passed on its descriptor since, or has changed its user, the kernel still reports the recorded credentials.
///
/// Once a process has ended, another process can get its ID, so do not grant access by the process ID alone. If the kernel cannot
/// represent a process in this process's namespaces, the process ID is 0, and the user and group are the system's overflow IDs.
///
/// > Thread safety: a value.
public struct PeerCredentials: Hashable, Sendable {
    /// The process ID.
    public let processID: CInt

    /// The user that the process acted as.
    public let userID: UInt32

    /// The group that the process acted as.
    public let groupID: UInt32

    /// Makes credentials, for example for a comparison.
    ///
    /// - Parameters:
    ///   - processID: The process ID.
    ///   - userID: The user that the process acts as.
    ///   - groupID: The group that the process acts as.
    public init(processID: CInt, userID: UInt32, groupID: UInt32) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
    }
}

extension PeerCredentials: CustomStringConvertible {
    /// The credentials in words, as in `process 4711 of user 1000, group 1000`.
    public var description: String { "process \(processID) of user \(userID), group \(groupID)" }
}

/// The process at the other end of a connection, as the kernel reports it, and not as the process describes itself.
///
/// The kernel records the credentials of a client when it connects, and the credentials of a server when it starts to listen. The
/// kernel does not update them, even if the process later changes its user or passes its descriptor to another process.
///
/// Once a process has ended, another process can get its ID, so do not grant access by the process ID alone. If the kernel cannot
/// represent a process in this process's namespaces, the process ID is 0, and the user and group are the system's overflow IDs.
///
/// > Thread safety: a value.
public struct PeerCredentials: Hashable, Sendable {
    /// The process ID.
    public let processID: CInt

    /// The effective user ID of the process at the moment of the kernel's record.
    public let userID: UInt32

    /// The effective group ID of the process at the moment of the kernel's record.
    public let groupID: UInt32

    /// Makes credentials, for example for a comparison.
    ///
    /// - Parameters:
    ///   - processID: The process ID.
    ///   - userID: The effective user ID of the process.
    ///   - groupID: The effective group ID of the process.
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

internal import Glibc
extension PeerCredentials {
    /// Whether the process acts as the user that this process acts as.
    ///
    /// > Thread safety: any thread.
    public var isOfThisUser: Bool { userID == geteuid() }
}

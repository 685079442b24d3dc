internal import Glibc

extension PeerCredentials {
    /// True if the process acted as the user that this process acts as.
    ///
    /// > Thread safety: any thread.
    public var isOfThisUser: Bool { userID == geteuid() }
}

internal import Glibc

extension PeerCredentials {
    /// True if the process acted as the same user as this process.
    ///
    /// > Thread safety: any thread.
    public var isOfThisUser: Bool { userID == geteuid() }
}

internal import Glibc

extension PeerCredentials {
    /// True if the user of the peer is the user of this process.
    ///
    /// > Thread safety: any thread.
    public var isOfThisUser: Bool { userID == geteuid() }
}

internal import CTransfers

/// The state of libcurl that all clients of the process share.
enum CurlLibrary {
    /// True if libcurl can be used.
    ///
    /// It is initialized when this is first asked for.
    static let isReady = runloops_transfers_prepare()
}

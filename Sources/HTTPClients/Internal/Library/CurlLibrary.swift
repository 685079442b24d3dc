internal import CTransfers

/// The state of libcurl that all clients of the process share.
enum CurlLibrary {
    /// True if libcurl can be used.
    ///
    /// The first access initializes libcurl.
    static let isReady = runloops_transfers_prepare()
}

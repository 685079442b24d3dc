extension Frame {
    /// The reason that one end of a connection sends when it refuses the other end.
    ///
    /// If the port has ended, or if replies were not read, the connection ends without a reason. In the second case there is no
    /// room for a reason.
    enum Refusal: UInt32, CaseIterable, Sendable {
        /// The port does not admit this peer.
        case notAdmitted = 1
        /// The process, or its user, already has the largest number of connections that the port allows.
        case tooManyConnections = 2
        /// The first packet did not arrive in time.
        case tooSlow = 3
        /// A packet was malformed, or out of place.
        case malformed = 4
        /// A packet was larger than the limit, or carried more descriptors.
        case tooLarge = 5
        /// The end that refuses is out of memory or descriptors.
        case outOfResources = 6
    }
}

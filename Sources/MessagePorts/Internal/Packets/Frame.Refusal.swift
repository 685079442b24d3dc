extension Frame {
    /// The reason that a port gives when it turns away the other end of a connection.
    ///
    /// A connection that ends for another reason ends without one: the port has ended, or replies were not read, so that there
    /// is no room for a reason either.
    enum Refusal: UInt32, CaseIterable, Sendable {
        /// The port does not admit this peer.
        case notAdmitted = 1
        /// The port has as many connections with this process, or this user, as it allows.
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

extension Frame {
    /// The reason that one end of a connection sends when it refuses the other end.
    ///
    /// A port sends no reason in two cases:
    /// - The port has ended.
    /// - The client does not read its replies. The port then closes the connection, which has no room for a reason.
    enum Refusal: UInt32, CaseIterable, Sendable {
        /// The port does not admit this peer.
        case notAdmitted = 1
        /// The connecting process, or its user, already has the largest number of connections that the port allows.
        case tooManyConnections = 2
        /// The first packet did not arrive in time.
        case tooSlow = 3
        /// A packet was malformed, or its kind was not allowed at that point.
        case malformed = 4
        /// A packet was larger than the limit, or carried more descriptors than the limit.
        case tooLarge = 5
        /// The refusing end of the connection is out of memory or descriptors.
        case outOfResources = 6
    }
}

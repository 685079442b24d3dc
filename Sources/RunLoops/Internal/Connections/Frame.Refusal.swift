extension Frame {
    /// Why one end ends a connection, as it tells the other.
    enum Refusal: UInt32, CaseIterable, Sendable {
        /// The port does not admit this peer.
        case notAdmitted = 1
        /// The port has as many connections with this process, or this user, as it allows.
        case tooManyConnections = 2
        /// The first packet has not come in time.
        case tooSlow = 3
        /// A packet was malformed, or out of place.
        case malformed = 4
        /// A packet was larger than the limit, or carried more descriptors.
        case tooLarge = 5
        /// Replies were not read, and there are as many as are kept.
        case unread = 6
        /// The port has ended.
        case ended = 7
        /// The end that says so lacks memory or descriptors.
        case outOfResources = 8
    }
}

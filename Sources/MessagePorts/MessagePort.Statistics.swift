extension MessagePort {
    /// The counts of messages and peers that a port has received, and of those that it has turned away.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The number of open connections, with those that have not greeted yet.
        public internal(set) var connections = 0

        /// The number of peers that were admitted.
        public internal(set) var admittedPeers = 0

        /// The number of peers that the filter rejected.
        public internal(set) var refusedPeers = 0

        /// The number of connections that were refused because their process, or their user, had as many as it may have.
        public internal(set) var excessConnections = 0

        /// The number of connections that were closed because they did not greet in time.
        public internal(set) var silentPeers = 0

        /// The number of connections that were closed or refused because descriptors that the same peer had sent could not be
        /// closed in time.
        public internal(set) var unclosablePeers = 0

        /// The number of connections that were closed because they did not read their replies.
        public internal(set) var unreadPeers = 0

        /// The number of connections that were closed because of a packet that was malformed, out of place, or beyond the
        /// limits.
        public internal(set) var malformedPackets = 0

        /// The number of messages and requests that were delivered.
        public internal(set) var messages = 0

        /// The number of times that replies had to wait because the kernel had no memory for them, or too many descriptors in
        /// flight.
        ///
        /// The port retries for about a minute.
        public internal(set) var postponedReplies = 0

        /// The number of times that the process, or the system, was out of descriptors: for a connection, which waits until
        /// there is one, or for the descriptors of a message, whose connection is closed.
        public internal(set) var lackingDescriptors = 0
    }
}

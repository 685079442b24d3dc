extension MessagePort {
    /// The counts of a port's messages, connections and peers, including those that the port has refused.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The number of open connections, including those whose greeting has not arrived yet.
        public internal(set) var connections = 0

        /// The number of peers that were admitted.
        public internal(set) var admittedPeers = 0

        /// The number of peers that the filter rejected.
        public internal(set) var refusedPeers = 0

        /// The number of connections that were refused because their process, or their user, was at its limit.
        public internal(set) var excessConnections = 0

        /// The number of connections that were closed because their greeting did not arrive in time.
        public internal(set) var silentPeers = 0

        /// The number of connections that were closed or refused because descriptors from the same process or user could not be
        /// closed in time.
        public internal(set) var unclosablePeers = 0

        /// The number of connections that were closed because the peer did not read its replies.
        public internal(set) var unreadPeers = 0

        /// The number of connections that were closed because a packet was malformed, exceeded a limit, or was not allowed when it
        /// arrived.
        public internal(set) var malformedPackets = 0

        /// The number of messages and requests that were delivered.
        public internal(set) var messages = 0

        /// The number of times that replies, or messages to a peer, had to wait because the kernel was out of resources.
        ///
        /// The kernel had no memory for them, or too many descriptors in flight. The port retries for about a minute.
        public internal(set) var postponedReplies = 0

        /// The number of times that the process, or the system, was out of descriptors.
        ///
        /// If there is no descriptor for a connection, the connection waits. If the descriptors of a message cannot be opened, its
        /// connection is closed.
        public internal(set) var lackingDescriptors = 0
    }
}

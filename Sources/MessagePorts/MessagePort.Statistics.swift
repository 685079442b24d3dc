extension MessagePort {
    /// What has come to a port so far, and what was turned away.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// How many connections there are, those included that have not said yet what they are.
        public internal(set) var connections = 0

        /// How many peers were admitted.
        public internal(set) var admittedPeers = 0

        /// How many peers were refused for who they are.
        public internal(set) var refusedPeers = 0

        /// How many connections were refused because their process, or their user, had as many as it may have.
        public internal(set) var excessConnections = 0

        /// How many connections were closed because nothing came in time.
        public internal(set) var silentPeers = 0

        /// The number of connections that were closed or refused because descriptors that the same peer had sent could not be
        /// closed in time.
        public internal(set) var unclosablePeers = 0

        /// How many were closed because they did not read their replies.
        public internal(set) var unreadPeers = 0

        /// How many were closed because of what came: what is no packet of ours, or beyond the limits.
        public internal(set) var malformedPackets = 0

        /// How many messages and requests were delivered.
        public internal(set) var messages = 0

        /// How many times replies had to wait because the kernel had no memory for them, or too many descriptors under way.
        ///
        /// They are tried again, for about a minute.
        public internal(set) var postponedReplies = 0

        /// How many times the process could open no more descriptors, or the system had no more: for a connection, which waits
        /// until there is one, or for those of a message, whose connection is closed.
        public internal(set) var lackingDescriptors = 0
    }
}

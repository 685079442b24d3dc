extension ObservationToken {
    /// The counts of the delivered, the dropped and the undelivered notifications of an observer on a loop.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The number of calls of the handler.
        public internal(set) var delivered = 0
        /// The number of notifications that were dropped because too many were waiting.
        public internal(set) var dropped = 0
        /// The number of notifications that were discarded because the loop had ended.
        public internal(set) var undelivered = 0
    }

    /// The counts of an observer on a loop; nil for an observer that is called on the posting thread.
    ///
    /// Three kinds of notifications are not counted: those that wait, those that were merged, and those that were discarded because
    /// the observation was removed. The counts remain available after the observation has ended.
    ///
    /// > Thread safety: any thread. The three numbers are read one after the other, not as a snapshot.
    public var statistics: Statistics? { registration.target?.counts }
}

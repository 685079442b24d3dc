extension NotificationRedirector {
    /// The counts of the delivered, the dropped and the undelivered notifications of an observer.
    ///
    /// > Thread safety: a value.
    public struct Counts: Hashable, Sendable {
        /// The number of calls of the handler.
        public var delivered = 0
        /// The number of notifications that were dropped because too many were waiting.
        public var dropped = 0
        /// The number of notifications that were discarded because the loop had ended.
        public var undelivered = 0
    }
}

extension ObservationToken {
    /// The delivery counts of an observer on a loop; nil for an observer that is called on the posting thread.
    ///
    /// Three kinds of notifications are not counted: those that wait, those that were merged, and those that were discarded because
    /// the observation was removed. The counts remain available after the observation has ended.
    ///
    /// > Thread safety: any thread. The three numbers are read one after the other, not as a snapshot.
    public var deliveryCounts: NotificationRedirector.Counts? { registration.target?.counts }
}

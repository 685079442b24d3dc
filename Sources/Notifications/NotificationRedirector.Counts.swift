extension NotificationRedirector {
    /// The numbers of an observer's notifications, by their fate.
    ///
    /// > Thread safety: a value.
    public struct Counts: Hashable, Sendable {
        /// The number of calls of the handler.
        public var delivered = 0
        /// The number of notifications dropped because too many waited.
        public var dropped = 0
        /// The number of notifications discarded because the loop has ended.
        public var undelivered = 0
    }
}

extension ObservationToken {
    /// The numbers of notifications for an observer on a loop; nil for an observer on the posting thread.
    ///
    /// Notifications that wait, that were merged, or that were discarded because the observation was removed are not counted.
    /// The counts remain after the end of the observation.
    ///
    /// > Thread safety: any thread. The three numbers are read one after the other.
    public var deliveryCounts: NotificationRedirector.Counts? { registration.target?.counts }
}

extension DistributedNotificationCenter {
    /// The state of a center's connection to the other centers.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum ConnectionState: Hashable, Sendable {
        /// The center is making its first attempt to connect. Posts are kept.
        case connecting
        /// The center is connected.
        case connected
        /// The center is connected, but an acknowledgement of its posts is late.
        ///
        /// For example, the hub's process is stopped, or its machine is overloaded. Posts are still sent while the connection has
        /// room for them, and are kept otherwise.
        case stalled(since: ContinuousClock.Instant)
        /// The center has no connection, for the given reason, and tries to connect again. Posts are kept.
        case away(since: ContinuousClock.Instant, DistributedNotificationError)
        /// The center has ended: it was invalidated, or the engine cannot continue, for the given reason.
        case ended(DistributedNotificationError?)
    }
}

/// A short name that engines use for ``DistributedNotificationCenter/ConnectionState``.
package typealias ConnectionState = DistributedNotificationCenter.ConnectionState

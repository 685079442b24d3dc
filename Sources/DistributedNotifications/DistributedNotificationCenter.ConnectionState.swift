extension DistributedNotificationCenter {
    /// The state of a center's connection to the other centers.
    ///
    /// > Thread safety: a value.
    public enum ConnectionState: Hashable, Sendable {
        /// The center connects for the first time. Posts are kept.
        case connecting
        /// The center is connected.
        case connected
        /// The center is connected, but an acknowledgement that it waits for has not come in time.
        ///
        /// The hub is stopped, or its machine is overloaded. Posts are sent or kept.
        case stalled(since: ContinuousClock.Instant)
        /// The connection has ended, and the center connects again. Posts are kept.
        case away(since: ContinuousClock.Instant, DistributedNotificationError)
        /// The center has ended: it was invalidated, or the engine cannot continue, for the given reason.
        case ended(DistributedNotificationError?)
    }
}

/// The state of a center's connection, for engines.
package typealias ConnectionState = DistributedNotificationCenter.ConnectionState

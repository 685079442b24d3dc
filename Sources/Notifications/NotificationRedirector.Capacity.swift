extension NotificationRedirector {
    /// The number of notifications that may wait for one observer, and the treatment of any more.
    ///
    /// > Thread safety: a value.
    public struct Capacity: Sendable {
        enum Kind: Sendable {
            case unlimited
            case bounded(Int, Policy)
            case coalescing(NotificationQueue.NotificationCoalescing)
        }

        /// The treatment of a notification for which there is no room.
        ///
        /// > Thread safety: a value.
        public enum Policy: Hashable, Sendable {
            /// Drops the notification that has waited longest, and accepts the new one.
            case dropOldest
            /// Drops the new notification.
            case dropNewest
            /// Blocks the poster until there is room, at most this long from its post on, and then drops the new notification.
            ///
            /// The thread is blocked even if it is a task's. The loop's own thread is not blocked: its posts are accepted
            /// beyond the limit.
            case block(until: Duration)
        }

        let kind: Kind

        /// A capacity without a limit: an observer that is too slow costs memory.
        public static let unlimited = Capacity(kind: .unlimited)

        /// Limits the number of notifications that wait.
        ///
        /// - Parameters:
        ///   - count: The largest number that may wait; at least 1.
        ///   - policy: The treatment of a notification for which there is no room.
        /// - Returns: The capacity.
        public static func bounded(_ count: Int, _ policy: Policy) -> Capacity {
            if count < 1 {
                fatalError("Capacity.bounded: \(count) lets nothing wait; use at least 1, or .unlimited")
            }
            return Capacity(kind: .bounded(count, policy))
        }

        /// Merges notifications that match: only the first of them waits.
        ///
        /// The others are not counted as dropped. A notification that is posted while the handler runs waits again.
        ///
        /// - Parameter mask: The properties by which notifications match. With an empty mask none match, and all wait.
        /// - Returns: The capacity.
        public static func coalescing(_ mask: NotificationQueue.NotificationCoalescing) -> Capacity {
            Capacity(kind: .coalescing(mask))
        }
    }
}

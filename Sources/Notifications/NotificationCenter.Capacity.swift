extension NotificationCenter {
    /// The limit on the number of notifications that wait for one observer, and the policy for notifications beyond the limit.
    ///
    /// > Thread safety: a value.
    public struct Capacity: Sendable {
        enum Kind: Sendable {
            case unlimited
            case bounded(Int, Policy)
            case coalescing(NotificationQueue.NotificationCoalescing)
        }

        /// The policy for a notification for which there is no room.
        ///
        /// > Thread safety: a value.
        @nonexhaustive
        public enum Policy: Hashable, Sendable {
            /// The notification that has waited longest is dropped, and the new one is accepted.
            case dropOldest
            /// The new notification is dropped.
            case dropNewest
            /// The posting thread blocks for at most this time; if there is still no room then, the new notification is dropped.
            ///
            /// The thread continues as soon as there is room. The time begins with the post. The thread blocks even if it is
            /// running a task. A post on the loop's own thread never blocks; its notification is accepted beyond the limit.
            case block(atMost: Duration)
        }

        let kind: Kind

        /// A capacity without a limit; if the observer is too slow, the waiting notifications take up more and more memory.
        public static let unlimited = Capacity(kind: .unlimited)

        /// Returns a capacity that limits the number of notifications that wait.
        ///
        /// - Parameters:
        ///   - count: The maximum number of waiting notifications; at least 1.
        ///   - policy: The policy for a notification for which there is no room.
        /// - Returns: The capacity.
        public static func bounded(_ count: Int, _ policy: Policy) -> Capacity {
            if count < 1 {
                fatalError("Capacity.bounded: \(count) lets nothing wait; use at least 1, or .unlimited")
            }
            return Capacity(kind: .bounded(count, policy))
        }

        /// Returns a capacity that merges notifications that match, so that only the first of them waits.
        ///
        /// The other notifications are not counted as dropped. A notification that is posted while the handler runs is not merged
        /// with the notification that is being handled.
        ///
        /// - Parameter mask: The properties that two notifications must share to match. With an empty mask no notifications
        ///   match, so all of them wait.
        /// - Returns: The capacity.
        public static func coalescing(_ mask: NotificationQueue.NotificationCoalescing) -> Capacity {
            Capacity(kind: .coalescing(mask))
        }
    }
}

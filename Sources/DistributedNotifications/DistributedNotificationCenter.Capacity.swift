internal import RunLoops

extension DistributedNotificationCenter {
    /// The limit on the notifications that may wait for one observer, and the policy for notifications beyond the limit.
    ///
    /// The policies have the names of those in the module Notifications. There is none that blocks the poster, so a slow
    /// observer disturbs no other, in this process or in another one.
    ///
    /// > Thread safety: a value.
    public struct Capacity: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case unlimited
            case bounded(Int, Policy)
            case coalescing
        }

        /// The policy for a notification for which there is no room.
        ///
        /// With both policies, the observer gets a ``DistributedNotificationGap`` in the place of the dropped notification.
        ///
        /// > Thread safety: a value.
        public enum Policy: Hashable, Sendable {
            /// Drops the notification that has waited longest, and accepts the new one.
            case dropOldest
            /// Drops the new notification.
            case dropNewest
        }

        let kind: Kind

        /// A capacity without a limit; if the observer is too slow, the waiting notifications take up more and more memory.
        public static let unlimited = Capacity(kind: .unlimited)

        /// Merges notifications of the same poster, name and sender, so that only the newest of them waits, in the place of
        /// the first.
        ///
        /// ``DistributedNotification/mergedCount`` counts the others. They do not count as dropped, and make no gap.
        public static let coalescing = Capacity(kind: .coalescing)

        /// Limits the number of notifications that wait.
        ///
        /// - Parameters:
        ///   - count: The largest number that may wait; at least 1.
        ///   - policy: The policy for a notification for which there is no room.
        /// - Returns: The capacity.
        public static func bounded(_ count: Int, _ policy: Policy) -> Capacity {
            if count < 1 {
                misuse("Capacity.bounded: \(count) lets nothing wait; use at least 1, or .unlimited")
            }
            return Capacity(kind: .bounded(count, policy))
        }
    }

    /// The treatment of an observer's notifications while its center is suspended.
    ///
    /// > Thread safety: a value.
    public enum SuspensionBehavior: Hashable, Sendable {
        /// Drops them. When the center is resumed, the observer gets a gap for them.
        case drop
        /// Keeps the newest one for each poster, name and sender.
        case coalesce
        /// Keeps them, up to ``DistributedNotificationCenter/Options/held``, and drops the oldest beyond that, with a gap.
        case hold
        /// Delivers them as if the center were not suspended.
        case deliverImmediately
    }

    /// The earlier notifications that an observer gets first, if the engine still has them.
    ///
    /// > Thread safety: a value.
    public struct Start: Hashable, Sendable {
        let start: Subscription.Start

        /// None: only notifications from now on.
        public static let now = Start(start: .now)

        /// The newest ones that the engine still has, up to a number.
        ///
        /// - Parameter count: The number.
        /// - Returns: The start.
        public static func last(_ count: Int) -> Start {
            if count < 0 { misuse("Start.last: \(count) is negative; use 0 or more") }
            return Start(start: .last(count))
        }

        /// Those that the engine still has and that were posted since a time.
        ///
        /// - Parameter date: The time, in nanoseconds since 1970, by the posters' clocks.
        /// - Returns: The start.
        public static func since(_ date: Int64) -> Start { Start(start: .since(date)) }
    }
}

internal import RunLoops

extension DistributedNotificationCenter {
    /// The limit on the notifications that may wait for one observer, and the policy for notifications beyond the limit.
    ///
    /// The policies have the same names as in the module Notifications. No policy blocks the poster, so a slow observer does not
    /// slow down any other observer, in this process or in another one.
    ///
    /// > Thread safety: a value.
    public struct Capacity: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case unlimited
            case bounded(Int, Policy)
            case coalescing
        }

        /// The policy for a notification that arrives when the limit is reached.
        ///
        /// With both policies, the observer gets a ``DistributedNotificationGap`` where the dropped notification would have been.
        ///
        /// > Thread safety: a value.
        @nonexhaustive
        public enum Policy: Hashable, Sendable {
            /// The notification that has waited longest is dropped, and the new one is accepted.
            case dropOldest
            /// The new notification is dropped.
            case dropNewest
        }

        let kind: Kind

        /// A capacity without a limit; if the observer is too slow, the waiting notifications take up more and more memory.
        public static let unlimited = Capacity(kind: .unlimited)

        /// A capacity that merges notifications of the same poster, name and sender: only the newest one waits, at
        /// the position of the first one.
        ///
        /// ``DistributedNotification/mergedCount`` counts the other notifications. They do not count as dropped, and cause no gap.
        public static let coalescing = Capacity(kind: .coalescing)

        /// Limits the number of notifications that wait.
        ///
        /// - Parameters:
        ///   - count: The maximum number of notifications that may wait; at least 1.
        ///   - policy: The policy for a notification that arrives when the limit is reached.
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
    @nonexhaustive
    public enum SuspensionBehavior: Hashable, Sendable {
        /// The notifications are dropped.
        ///
        /// When the center is resumed, a ``DistributedNotificationGap`` reports the dropped notifications to the observer.
        case drop
        /// Only the newest notification of each poster, name and sender is kept.
        case coalesce
        /// The notifications are kept, up to ``DistributedNotificationCenter/Options/heldNotificationLimit``.
        ///
        /// Beyond that number, the oldest kept notifications are dropped. A ``DistributedNotificationGap`` reports the dropped
        /// notifications to the observer.
        case hold
        /// The notifications are delivered as if the center were not suspended.
        case deliverImmediately
    }

    /// The earlier notifications that an observer gets first, if the center's engine still has them.
    ///
    /// > Thread safety: a value.
    public struct Start: Hashable, Sendable {
        let start: Subscription.Start

        /// No earlier notifications: only notifications from now on.
        public static let now = Start(start: .now)

        /// Returns a start that asks for the newest notifications that the engine still has, at most `count` of them.
        ///
        /// - Parameter count: The maximum number of notifications.
        /// - Returns: The start.
        public static func last(_ count: Int) -> Start {
            if count < 0 { misuse("Start.last: \(count) is negative; use 0 or more") }
            return Start(start: .last(count))
        }

        /// Returns a start that asks for the notifications that were posted since a time and that the engine still has.
        ///
        /// - Parameter time: The time since the beginning of 1970 in UTC, by the posters' clocks.
        /// - Returns: The start.
        public static func since(timeSince1970 time: Duration) -> Start {
            Start(start: .since(Int64(clamping: time.attoseconds / 1_000_000_000)))
        }
    }
}

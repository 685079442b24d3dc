internal import RunLoops

extension DistributedNotificationCenter {
    /// The limits of a center.
    ///
    /// ```swift
    /// var options = DistributedNotificationCenter.Options()
    /// options.payloadLimit = 4_096
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The maximum number of bytes of a payload; at most 98,304.
        public var payloadLimit = 65_536

        /// The maximum number of posts that the center keeps at the same time.
        ///
        /// A post is kept until it is settled (``DistributedNotificationCenter/Milestone/settled``).
        public var keptPostLimit = 4_096

        /// The maximum total size, in bytes, of the posts that the center keeps at the same time.
        ///
        /// A post is kept until it is settled (``DistributedNotificationCenter/Milestone/settled``).
        public var keptByteLimit = 4_194_304

        /// The maximum number of different pairs of name and sender among the center's posts; at most 65,536.
        public var topicLimit = 1_024

        /// The maximum number of notifications that an observer holds while the center is suspended.
        public var heldNotificationLimit = 1_024

        /// The time for which the center waits for an acknowledgement before the connection counts as stalled.
        public var stallTimeout = Duration.seconds(5)

        /// The time that the other posters have to reconnect after this center has reconnected.
        ///
        /// When a hub ends, all its centers must connect to the next hub. If a poster that this center knows has not connected
        /// within this time, the observers of this center get a gap whose ``DistributedNotificationGap/to`` is nil.
        public var reconnectTimeout = Duration.seconds(10)

        /// Makes limits that suit most programs.
        public init() {}

        /// Ends the program if a limit is out of its range.
        func check() {
            if !(0...98_304).contains(payloadLimit) {
                misuse(
                    "DistributedNotificationCenter.Options.payloadLimit: \(payloadLimit) bytes do not fit; use 0 to 98304"
                )
            }
            if keptPostLimit < 1 || keptByteLimit < 1 {
                misuse(
                    "DistributedNotificationCenter.Options: \(keptPostLimit) posts and \(keptByteLimit) bytes leave no room for a post; use at least 1"
                )
            }
            if !(1...65_536).contains(topicLimit) {
                misuse(
                    "DistributedNotificationCenter.Options.topicLimit: \(topicLimit) is out of range; use 1 to 65536"
                )
            }
            if heldNotificationLimit < 1 {
                misuse(
                    "DistributedNotificationCenter.Options.heldNotificationLimit: \(heldNotificationLimit) holds nothing; use at least 1, or .drop"
                )
            }
            if stallTimeout <= .zero || reconnectTimeout <= .zero {
                misuse(
                    "DistributedNotificationCenter.Options: a time of \(min(stallTimeout, reconnectTimeout)) is none; use some seconds"
                )
            }
        }
    }

    /// The policy for a post for which the center has no room.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum FullPolicy: Hashable, Sendable {
        /// The call throws ``DistributedNotificationError/Reason/full``.
        case refuse
        /// The oldest kept posts are dropped. Observers that have not received them get a gap.
        case dropOldest
        /// The call blocks the thread until there is room, and throws ``DistributedNotificationError/Reason/full`` if the given
        /// time passes first.
        case block(atMost: Duration)
    }

    /// A stage in the delivery of a post; a task can wait until a post has reached it.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum Milestone: Hashable, Sendable {
        /// The engine has accepted the post.
        case accepted
        /// Every connected process that subscribes to the post has confirmed it, or a gap is reported to that process.
        ///
        /// A process confirms a post when the post is in the queues of its observers, before their handlers have run. Posters do
        /// not wait for a process that has confirmed nothing for a second. They also do not wait for observers that are still
        /// getting earlier notifications.
        case settled
    }

    /// The counts of a center's posts.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The count of all posts, which is also the number of the last post.
        public internal(set) var posted: UInt64 = 0
        /// The number of the last post that an engine has accepted.
        public internal(set) var accepted: UInt64 = 0
        /// The number of posts that are kept, because they are not settled.
        public internal(set) var kept = 0
        /// The number of posts that the center has dropped to make room for newer ones.
        public internal(set) var dropped = 0
    }
}

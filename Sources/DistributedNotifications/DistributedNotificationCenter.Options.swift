internal import RunLoops

extension DistributedNotificationCenter {
    /// The limits of a center.
    ///
    /// ```swift
    /// var options = DistributedNotificationCenter.Options()
    /// options.payload = 4_096
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The maximum number of bytes of a payload; at most 98,304.
        public var payload = 65_536

        /// The maximum number of posts that the center keeps at the same time.
        ///
        /// A post is kept until it is settled (``DistributedNotificationCenter/Milestone/settled``).
        public var keptPosts = 4_096

        /// The maximum total size, in bytes, of the posts that the center keeps at the same time.
        ///
        /// A post is kept until it is settled (``DistributedNotificationCenter/Milestone/settled``).
        public var keptBytes = 4_194_304

        /// The maximum number of different pairs of name and sender among the center's posts; at most 65,536.
        public var topics = 1_024

        /// The maximum number of notifications that an observer holds while the center is suspended.
        public var held = 1_024

        /// The time for which the center waits for an acknowledgement before the connection counts as stalled.
        public var stall = Duration.seconds(5)

        /// The time that the other posters have to reconnect after this center has reconnected.
        ///
        /// When a hub ends, all its centers must connect to the next hub. If a poster that this center knows has not connected
        /// within this time, the observers of this center get a gap whose ``DistributedNotificationGap/to`` is nil.
        public var grace = Duration.seconds(10)

        /// Makes limits that suit most programs.
        public init() {}

        /// Ends the program if a limit is out of its range.
        func check() {
            if !(0...98_304).contains(payload) {
                misuse(
                    "DistributedNotificationCenter.Options.payload: \(payload) bytes do not fit; use 0 to 98304"
                )
            }
            if keptPosts < 1 || keptBytes < 1 {
                misuse(
                    "DistributedNotificationCenter.Options: \(keptPosts) posts and \(keptBytes) bytes leave no room for a post; use at least 1"
                )
            }
            if !(1...65_536).contains(topics) {
                misuse(
                    "DistributedNotificationCenter.Options.topics: \(topics) is out of range; use 1 to 65536")
            }
            if held < 1 {
                misuse(
                    "DistributedNotificationCenter.Options.held: \(held) holds nothing; use at least 1, or .drop"
                )
            }
            if stall <= .zero || grace <= .zero {
                misuse(
                    "DistributedNotificationCenter.Options: a time of \(min(stall, grace)) is none; use some seconds"
                )
            }
        }
    }

    /// The policy for a post for which the center has no room.
    ///
    /// > Thread safety: a value.
    public enum FullPolicy: Hashable, Sendable {
        /// The call throws ``DistributedNotificationError/full``.
        case refuse
        /// The oldest kept posts are dropped. Observers that have not received them get a gap.
        case dropOldest
        /// The call blocks the thread until there is room, and throws ``DistributedNotificationError/full`` if the given
        /// time passes first.
        case block(until: Duration)
    }

    /// A stage in the delivery of a post; a task can wait until a post has reached it.
    ///
    /// > Thread safety: a value.
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
        public var posted: UInt64 = 0
        /// The number of the last post that an engine has accepted.
        public var accepted: UInt64 = 0
        /// The number of posts that are kept, because they are not settled.
        public var kept = 0
        /// The number of posts that the center has dropped to make room for newer ones.
        public var dropped = 0
    }
}

/// A group of events that an engine delivers together, in order.
package struct EngineBatch: Hashable, Sendable {
    /// An event of a batch.
    package enum Item: Hashable, Sendable {
        case post(Delivered)
        /// A ``Horizon``, which takes the place of posts that the engine does not deliver.
        ///
        /// `only` is the number of the subscription that the horizon is for. If `only` is nil, the horizon is for every
        /// subscription whose last ``Baseline`` on this connection was delivered.
        case horizon(Horizon, only: UInt64? = nil)
        /// The numbers of the newest posts when a subscription begins, or when it continues on a later connection.
        ///
        /// A subscription that continues compares these numbers with the posts that it has received. A higher number means that
        /// posts are missing.
        case baseline(Baseline)
        /// A poster that the engine knows, with no sign that the poster has ended.
        case present(PosterID)
        /// A poster has ended.
        ///
        /// `only` is the number of the subscription that the report is for, or nil for every subscription.
        case ended(PosterEnd, only: UInt64? = nil)
    }

    /// The number of the batch on this connection; the center uses it to confirm the batch.
    package let number: UInt64
    package let items: [Item]

    package init(number: UInt64, items: [Item]) {
        self.number = number
        self.items = items
    }

    /// A post that an engine delivers.
    package struct Delivered: Hashable, Sendable {
        package let post: Post
        /// The position of the post in the order in which the engine has accepted posts.
        package let position: Position
        /// The number of the subscription that gets the post; nil if the post is not for one subscription only.
        ///
        /// If a subscription has asked for earlier posts, each of those posts carries the number of that subscription. If the
        /// number is nil, the post is for every subscription whose last ``Baseline`` on this connection was delivered.
        package let subscription: UInt64?

        package init(post: Post, position: Position, subscription: UInt64? = nil) {
            self.post = post
            self.position = position
            self.subscription = subscription
        }
    }
}

/// The numbers of the posters' newest posts in the topics of one subscription.
///
/// If the subscription asked for earlier posts, the engine delivers those posts before the subscription's last baseline.
package struct Baseline: Hashable, Sendable {
    /// The number of a poster's newest post, in one topic or in all topics.
    package struct Mark: Hashable, Sendable {
        package let poster: PosterID
        /// The topic in which the poster has posted; nil for every topic of the poster.
        package let topic: Topic?
        package let number: UInt64
        /// The number of the newest ``Horizon`` of the topic.
        ///
        /// The horizon does not stand for posts with higher numbers.
        package let base: UInt64
        /// The time of the horizon with the number ``base``.
        package let baseTime: Int64

        package init(
            poster: PosterID, topic: Topic?, number: UInt64, base: UInt64 = 0, baseTime: Int64 = .max
        ) {
            self.poster = poster
            self.topic = topic
            self.number = number
            self.base = base
            self.baseTime = baseTime
        }
    }

    package let subscription: UInt64
    package let marks: [Mark]
    /// The position of the newest post that the engine had accepted when it made the baseline.
    package let position: Position
    /// False if another baseline of the same subscription follows.
    ///
    /// For example, a baseline that is too long for one message is sent as several baselines.
    package let isLast: Bool
    /// True if the subscription may have missed posts of forgotten posters.
    ///
    /// A poster is forgotten if it has ended, and the store no longer has a record of it.
    package let hasForgotten: Bool

    package init(
        subscription: UInt64, marks: [Mark], position: Position, isLast: Bool = true,
        hasForgotten: Bool = false
    ) {
        self.subscription = subscription
        self.marks = marks
        self.position = position
        self.isLast = isLast
        self.hasForgotten = hasForgotten
    }
}

/// A report that a poster has ended.
package struct PosterEnd: Hashable, Sendable {
    package let poster: PosterID
    /// The number up to which the engine has accepted the poster's posts.
    package let accepted: UInt64
    /// The number of the poster's last post; nil if it is unknown.
    package let last: UInt64?

    package init(poster: PosterID, accepted: UInt64, last: UInt64?) {
        self.poster = poster
        self.accepted = accepted
        self.last = last
    }
}

/// A group of events that an engine delivers together, in order.
package struct EngineBatch: Hashable, Sendable {
    /// An event of a batch.
    package enum Item: Hashable, Sendable {
        case post(Delivered)
        /// A notice that the engine does not deliver the posts of a topic up to a number.
        ///
        /// `only` is the one subscription that the horizon is for; nil for all checked subscriptions.
        case horizon(Horizon, only: UInt64? = nil)
        /// The numbers with which a subscription begins; if it began on an earlier connection, those that it should have reached.
        case baseline(Baseline)
        /// A poster is connected, and the engine has delivered all posts that it has of this poster.
        case present(PosterID)
        /// A poster has ended.
        ///
        /// `only` is the one subscription that the end is for; nil for all subscriptions.
        case ended(PosterEnd, only: UInt64? = nil)
    }

    /// The number of the batch on this connection, by which the center confirms the batch.
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
        /// The only subscription that gets the post, because it asked for earlier posts; nil for all checked subscriptions.
        ///
        /// A subscription is checked once the engine has delivered its last baseline on this connection.
        package let subscription: UInt64?

        package init(post: Post, position: Position, subscription: UInt64? = nil) {
            self.post = post
            self.position = position
            self.subscription = subscription
        }
    }
}

/// The numbers up to which posters have posted; they follow the earlier posts that a subscription asked for.
package struct Baseline: Hashable, Sendable {
    /// A number up to which a poster has posted.
    package struct Mark: Hashable, Sendable {
        package let poster: PosterID
        /// The topic; nil for every topic of the poster.
        package let topic: Topic?
        package let number: UInt64
        /// The number of the newest horizon of the topic; the horizon says nothing about later posts.
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
    /// The position of the newest post that the engine had accepted.
    package let position: Position
    /// False if another baseline of the same subscription follows, because one packet would be too long.
    package let isLast: Bool
    /// True if the store has forgotten ended posters whose posts the subscription may have missed.
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

/// The end of a poster.
package struct PosterEnd: Hashable, Sendable {
    package let poster: PosterID
    /// The number up to which the engine has the poster's posts.
    package let accepted: UInt64
    /// The number of the poster's last post; nil if it is unknown.
    package let last: UInt64?

    package init(poster: PosterID, accepted: UInt64, last: UInt64?) {
        self.poster = poster
        self.accepted = accepted
        self.last = last
    }
}

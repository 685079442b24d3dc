/// A poster's statement that it has posted up to a number in a topic, in place of posts that are not sent.
package struct Horizon: Hashable, Sendable {
    package let poster: PosterID
    package let topic: Topic
    /// The number of the newest post that the horizon stands for.
    package let number: UInt64
    /// True if an engine had already accepted that newest post, so that a subscription that began after the post has not lost it.
    package let isBase: Bool
    /// The reason in the gap that the horizon may cause.
    package let reason: DistributedNotificationGap.Reason

    package init(
        poster: PosterID, topic: Topic, number: UInt64, isBase: Bool,
        reason: DistributedNotificationGap.Reason
    ) {
        self.poster = poster
        self.topic = topic
        self.number = number
        self.isBase = isBase
        self.reason = reason
    }
}

/// The horizons that a poster hands to its engine.
package struct Announcement: Hashable, Sendable {
    package let horizons: [Horizon]
    /// True for the first announcement of a connection, with a horizon for each topic that has posts which are not sent again.
    package let isOpening: Bool
    /// The number up to which the poster sends no posts: they were sent before, or a horizon stands for them.
    package let number: UInt64

    package init(horizons: [Horizon], number: UInt64, isOpening: Bool) {
        self.horizons = horizons
        self.number = number
        self.isOpening = isOpening
    }
}

/// A poster's statement that it has posted up to a number in a topic; it stands for posts that are not sent.
package struct Horizon: Hashable, Sendable {
    package let poster: PosterID
    package let topic: Topic
    /// The number of the newest post that the horizon stands for.
    package let number: UInt64
    /// The time of the post with ``number``, by the clock that the poster and the observers share; the maximum if they share none.
    ///
    /// A subscription that began later has not lost that post.
    package let time: Int64
    /// True if an engine has accepted the post with ``number``, and there is no shared clock.
    ///
    /// If the poster is new to the store, a subscription that began in this store has not lost that post.
    package let isBase: Bool
    /// The reason in the gap that the horizon can cause.
    package let reason: DistributedNotificationGap.Reason

    package init(
        poster: PosterID, topic: Topic, number: UInt64, time: Int64 = .max, isBase: Bool = false,
        reason: DistributedNotificationGap.Reason
    ) {
        self.poster = poster
        self.topic = topic
        self.number = number
        self.time = time
        self.isBase = isBase
        self.reason = reason
    }
}

/// The horizons that a poster hands to its engine.
package struct Announcement: Hashable, Sendable {
    package let horizons: [Horizon]
    /// True for the first announcement of a connection, with the horizons of each topic whose posts are not all sent again.
    package let isOpening: Bool
    /// The number up to which the poster sends no posts, because they were sent before, or because horizons stand for them.
    package let number: UInt64

    package init(horizons: [Horizon], number: UInt64, isOpening: Bool) {
        self.horizons = horizons
        self.number = number
        self.isOpening = isOpening
    }
}

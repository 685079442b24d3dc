/// A stand-in for the posts of one poster in one topic, up to the post with ``number``.
///
/// A horizon takes the place of posts that are not sent.
package struct Horizon: Hashable, Sendable {
    package let poster: PosterID
    package let topic: Topic
    /// The number of the newest post that the horizon stands for.
    package let number: UInt64
    /// The time of the post with ``number``, by the clock that the poster and the observers share.
    ///
    /// If they share no clock, this is the maximum of the type. If a subscription began after this time, the post is older than
    /// the subscription, and does not count as lost.
    package let time: Int64
    /// True if an engine has accepted the post with ``number``, and the poster and the observers share no clock.
    ///
    /// It is possible that the engine has put the post into an earlier store (``Epoch``). So if the poster is new to the present
    /// store, a subscription that began in the present store has not lost that post.
    package let isBase: Bool
    /// The reason that an observer is given if it has missed the posts.
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

/// A group of horizons that a poster hands to its engine in one step.
package struct Announcement: Hashable, Sendable {
    package let horizons: [Horizon]
    /// True for the first announcement on a connection.
    ///
    /// The first announcement contains horizons for every topic with posts that the poster no longer keeps. Those posts are not
    /// sent again.
    package let isOpening: Bool
    /// The number up to which no more posts are sent on this connection.
    ///
    /// The posts up to this number were sent before, or horizons stand for them. All posts that are still to be sent have greater
    /// numbers.
    package let number: UInt64

    package init(horizons: [Horizon], number: UInt64, isOpening: Bool) {
        self.horizons = horizons
        self.number = number
        self.isOpening = isOpening
    }
}

/// A poster's statement that it has posted in a topic up to a number.
///
/// A horizon takes the place of posts that are not sent.
package struct Horizon: Hashable, Sendable {
    package let poster: PosterID
    package let topic: Topic
    /// The number of the newest post that the horizon stands for.
    package let number: UInt64
    /// The time of the post with ``number``, by the clock that the poster and the observers share.
    ///
    /// If they share no clock, this is the maximum of the type. A subscription that began after this time is newer than the post,
    /// and so has not lost it.
    package let time: Int64
    /// True if the poster and the observers share no clock, and an engine has accepted the post with ``number``.
    ///
    /// The engine may have accepted the post into an earlier store (``Epoch``). If the poster is new to the present store, a
    /// subscription that began in the present store has not lost that post.
    package let isBase: Bool
    /// The reason for the gap that is reported to an observer that has missed the posts.
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
    /// The number that every post still to be sent on this connection exceeds.
    ///
    /// The posts up to this number were sent before, or horizons stand for them.
    package let number: UInt64

    package init(horizons: [Horizon], number: UInt64, isOpening: Bool) {
        self.horizons = horizons
        self.number = number
        self.isOpening = isOpening
    }
}

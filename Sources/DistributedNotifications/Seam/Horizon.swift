/// A poster's statement that it has posted in a topic up to a number; it takes the place of posts that are not sent.
package struct Horizon: Hashable, Sendable {
    package let poster: PosterID
    package let topic: Topic
    /// The number of the newest of the posts that are not sent.
    package let number: UInt64
    /// The time of the post with ``number``, by the clock that the poster and the observers share.
    ///
    /// If they share no clock, this is the maximum of the type. A subscription that began after
    /// this time has not lost that post.
    package let time: Int64
    /// True if an engine has accepted the post with ``number``, and there is no shared clock.
    ///
    /// The engine may have accepted the post into an earlier store (``Epoch``). If the poster is new to the present store, a
    /// subscription that began in the present store has not lost that post.
    package let isBase: Bool
    /// The reason that an observer's gap gives if the observer has missed the posts.
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

/// The horizons that a poster hands to its engine together.
package struct Announcement: Hashable, Sendable {
    package let horizons: [Horizon]
    /// True for the first announcement on a connection.
    ///
    /// It contains the horizons of every topic with posts that the poster no longer keeps, and so does not send again.
    package let isOpening: Bool
    /// The number up to which the poster sends no more posts on this connection.
    ///
    /// The posts up to this number were sent before, or horizons stand for them.
    package let number: UInt64

    package init(horizons: [Horizon], number: UInt64, isOpening: Bool) {
        self.horizons = horizons
        self.number = number
        self.isOpening = isOpening
    }
}

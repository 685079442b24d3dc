/// A replacement for posts that are not sent: those of one poster in one topic, up to the post with ``number``.
package struct Horizon: Hashable, Sendable {
    package let poster: PosterID
    package let topic: Topic
    /// The number of the newest post that the horizon replaces.
    package let number: UInt64
    /// The time of the post with ``number``, by the clock that the poster and the observers share.
    ///
    /// If they share no clock, this is `Int64.max`. If a subscription began after this time, the post is older than the
    /// subscription, and does not count as lost.
    package let time: Int64
    /// True if an engine has accepted the post with ``number``, and the poster and the observers share no clock.
    ///
    /// It is possible that the engine accepted that post in an earlier ``Epoch``. So if the poster is new in the present epoch, a
    /// subscription that began in the present epoch has not lost that post.
    package let isBase: Bool
    /// The reason in the gap that is reported to an observer, if the observer has missed some of the replaced posts.
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
    /// The poster can send a post again only while it keeps the post. The first announcement contains horizons for every topic
    /// with posts that are no longer kept.
    package let isOpening: Bool
    /// A number that is lower than the number of each post that is still to be sent on this connection.
    ///
    /// The posts up to this number were sent before, or horizons replace them.
    package let number: UInt64

    package init(horizons: [Horizon], number: UInt64, isOpening: Bool) {
        self.horizons = horizons
        self.number = number
        self.isOpening = isOpening
    }
}

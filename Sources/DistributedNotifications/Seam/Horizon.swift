/// A poster's statement that in a topic it has posted up to a number, made where the post itself does not come.
package struct Horizon: Hashable, Sendable {
    package let poster: PosterID
    package let topic: Topic
    /// The number of the topic's newest post that is not delivered otherwise.
    package let number: UInt64
    /// True if an engine has accepted that post before, so that it is no loss for those that subscribed later.
    package let isBase: Bool
    /// The reason of the gap that the horizon makes, where it makes one.
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
    /// True for the first announcement after a connection, which tells all topics whose posts will not be sent again.
    package let isOpening: Bool
    /// The number up to which the poster sends nothing any more: it was sent before, or a horizon stands for it.
    package let number: UInt64

    package init(horizons: [Horizon], number: UInt64, isOpening: Bool) {
        self.horizons = horizons
        self.number = number
        self.isOpening = isOpening
    }
}

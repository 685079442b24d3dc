/// The random identity of a poster, unique among all posters and all runs of its program.
package struct PosterID: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The identity that stands for all posters that an engine has forgotten.
    package static let unknown = PosterID(high: 0, low: 0)

    package static func < (left: PosterID, right: PosterID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// Makes an identity from the kernel's random numbers.
    package static func random() -> PosterID {
        PosterID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}

/// The name and the sender of a notification.
package struct Topic: Hashable, Comparable, Sendable {
    package let name: String
    package let sender: String?

    package init(name: String, sender: String?) {
        self.name = name
        self.sender = sender
    }

    package static func < (left: Topic, right: Topic) -> Bool {
        (left.name, left.sender ?? "") < (right.name, right.sender ?? "")
    }
}

/// A notification as centers and engines exchange it.
package struct Post: Hashable, Sendable {
    /// The identity of the center that posted the notification.
    package let poster: PosterID
    /// The number that the poster has given the post, counted from 1.
    package let number: UInt64
    /// The number of the poster's previous post in the same topic; 0 if there is none.
    package let previous: UInt64
    package let topic: Topic
    /// The time of the post, in nanoseconds since 1970, by the poster's clock.
    package let date: Int64
    /// True if suspended observers get the post immediately.
    package let isImmediate: Bool
    package let payload: [UInt8]

    package init(
        poster: PosterID, number: UInt64, previous: UInt64, topic: Topic, date: Int64 = 0,
        isImmediate: Bool = false, payload: [UInt8] = []
    ) {
        self.poster = poster
        self.number = number
        self.previous = previous
        self.topic = topic
        self.date = date
        self.isImmediate = isImmediate
        self.payload = payload
    }

    /// The number of bytes that the post uses up of a limit in bytes.
    package var cost: Int { payload.count + topic.name.utf8.count + (topic.sender?.utf8.count ?? 0) + 64 }
}

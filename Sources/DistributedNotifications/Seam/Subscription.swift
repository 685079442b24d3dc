/// The identity of the store in which an engine keeps posts.
///
/// A hub has one epoch for its whole life. A database gets a new epoch with each generation of its data.
package struct Epoch: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// A position in the order in which an engine has accepted posts, within one epoch.
package struct Position: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64 = 0, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func < (left: Position, right: Position) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// The posts that one observer wants.
package struct Subscription: Hashable, Sendable {
    /// The earlier posts that are delivered first, if the engine still has them.
    package enum Start: Hashable, Sendable {
        /// No earlier posts: only posts from now on.
        case now
        /// The most recent posts; the value is the maximum number of posts.
        case last(Int)
        /// The posts with a date at or after this time, in nanoseconds since 1970.
        ///
        /// The date of a post comes from the clock of its poster.
        case since(Int64)
        /// The posts after a position.
        ///
        /// The epoch identifies the store in which the position is valid. If the engine no longer uses that store, all posts of its
        /// present store are delivered.
        case after(Position, Epoch)
    }

    /// The number of the subscription, unique within its center.
    package let number: UInt64
    /// The name that the subscription is for; nil for every name.
    package let name: String?
    /// The sender that the subscription is for; nil for all posts, with or without a sender.
    package let sender: String?
    package var start: Start

    /// Returns true if the subscription is for the name and the sender of a topic.
    package func matches(_ topic: Topic) -> Bool {
        (name == nil || name == topic.name) && (sender == nil || sender == topic.sender)
    }
}

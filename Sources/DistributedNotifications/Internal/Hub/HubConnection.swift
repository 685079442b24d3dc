internal import DequeModule

/// The hub's state of a connection.
struct HubConnection: Hashable, Sendable {
    /// An event that waits to be sent.
    enum Waiting: Hashable, Sendable {
        case post(Post, Position)
        case item(EngineBatch.Item)
    }

    /// A post that was sent, and that the connection has not confirmed.
    struct Unconfirmed: Hashable, Sendable {
        let batch: UInt64
        let poster: PosterID
        let number: UInt64
    }

    struct Subscribed: Hashable, Sendable {
        let request: Subscription
        /// True while the earlier posts that the subscription asked for are being sent.
        var isReplaying: Bool
    }

    /// The progress of sending the earlier posts that a subscription asked for.
    struct Replay: Hashable, Sendable {
        let subscription: UInt64
        /// The position of the next post to look at.
        var next: UInt64
        /// The time of the oldest post to send; nil for any time.
        var since: Int64?
    }

    struct MissedTopic: Hashable, Sendable {
        let poster: PosterID
        let topic: Topic
    }

    let poster: PosterID
    var subscriptions: [UInt64: Subscribed] = [:]
    var queue = Deque<Waiting>()
    var queuedPosts = 0
    var queuedBytes = 0
    var unconfirmed = Deque<Unconfirmed>()
    var replays = Deque<Replay>()
    /// The number of the newest post that found no room, for each topic with such posts.
    var missed: [MissedTopic: UInt64] = [:]
    /// True if more topics had such posts than the hub keeps in `missed`.
    ///
    /// If so, the hub checks all topics that the connection subscribes to.
    var isMissingMore = false
    var lastBatch: UInt64 = 0
    /// The maximum number of posts that are sent to the connection and not confirmed.
    var credits = 1_024
    /// True if posters no longer wait for the connection's confirmations.
    ///
    /// This becomes true when there is no room for a post, or when the connection has confirmed no posts for too long. It becomes
    /// false when the connection has confirmed all posts.
    var isBehind = false
    /// True if the connection has confirmed posts since the last check, or held none then.
    var hasConfirmed = true
    var owesAcknowledgement = false
    /// The opening horizons that have arrived so far.
    var opening: [Horizon] = []
    /// True once the poster has said that it ends.
    var hasEnded = false
    var isReady = false

    init(poster: PosterID) { self.poster = poster }

    /// True if posts may be sent.
    var hasCredits: Bool { unconfirmed.count < credits }

    /// True if there are posts for the connection that it has not confirmed.
    var holdsPosts: Bool { queuedPosts > 0 || !unconfirmed.isEmpty }

    /// True if some posts found no room.
    var misses: Bool { !missed.isEmpty || isMissingMore }

    /// True if there is no room for a post.
    func isFull(for post: Post, _ limits: Hub.Limits) -> Bool {
        queuedPosts >= limits.queuedPosts || queuedPosts > 0 && queuedBytes + post.cost > limits.queuedBytes
    }

    /// Appends a post, for which there must be room.
    mutating func append(_ post: Post, _ position: Position) {
        queue.append(.post(post, position))
        queuedPosts += 1
        queuedBytes += post.cost
    }

    /// Notes a post for which there is no room.
    mutating func miss(_ topic: MissedTopic, _ number: UInt64, most: Int) {
        if missed[topic] == nil && missed.count >= most {
            isMissingMore = true
        } else {
            missed[topic] = number
        }
    }

    /// Removes and returns the first event of the queue, for a batch; nil if there is none, or if it is a post that must wait.
    ///
    /// A post must wait if it has more bytes than fit, or if there are no credits for it.
    mutating func takeFirst(for batch: UInt64, fits room: Int) -> EngineBatch.Item? {
        switch queue.first {
        case nil: return nil
        case .item(let item):
            queue.removeFirst()
            return item
        case .post(let post, let position):
            if !hasCredits || post.cost > room { return nil }
            queue.removeFirst()
            queuedPosts -= 1
            queuedBytes -= post.cost
            unconfirmed.append(Unconfirmed(batch: batch, poster: post.poster, number: post.number))
            return .post(.init(post: post, position: position))
        }
    }
}

extension EngineBatch.Item {
    /// The number of bytes that the item counts for in a batch.
    var cost: Int {
        switch self {
        case .post(let delivered): delivered.post.cost
        case .horizon(let horizon, _):
            horizon.topic.name.utf8.count + (horizon.topic.sender?.utf8.count ?? 0) + 64
        case .baseline(let baseline):
            baseline.marks.reduce(64) { sum, mark in
                sum + (mark.topic.map { $0.name.utf8.count + ($0.sender?.utf8.count ?? 0) } ?? 0) + 48
            }
        case .present, .ended: 64
        }
    }
}

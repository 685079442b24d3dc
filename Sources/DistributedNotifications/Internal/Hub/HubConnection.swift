internal import DequeModule

/// The state that a hub keeps for one connection.
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
        /// True if the hub no longer has all posts after the position at which the subscription continues.
        var isTrimmed = false
    }

    /// The progress of sending the earlier posts that a subscription asked for.
    struct Replay: Hashable, Sendable {
        let subscription: UInt64
        /// The position of the next post to check against the subscription.
        var next: UInt64
        /// The lower limit on the date of the posts to send; nil for no limit.
        var since: Int64?
    }

    struct MissedTopic: Hashable, Sendable {
        let poster: PosterID
        let topic: Topic

        /// Returns a horizon that reports the loss of all posts of the topic up to `number`.
        func loss(_ number: UInt64) -> Horizon {
            Horizon(poster: poster, topic: topic, number: number, reason: .processBehind)
        }
    }

    let poster: PosterID
    var subscriptions: [UInt64: Subscribed] = [:]
    var queue = Deque<Waiting>()
    var queuedPosts = 0
    var queuedBytes = 0
    var unconfirmed = Deque<Unconfirmed>()
    var replays = Deque<Replay>()
    /// The topics of posts that were left out of the queue for lack of room.
    ///
    /// The value is the number of the topic's newest omitted post.
    var missed: [MissedTopic: UInt64] = [:]
    /// True if the hub has omitted a post whose topic did not fit into `missed`.
    ///
    /// In that case the hub checks all topics that the connection subscribes to.
    var isMissingMore = false
    /// True if the hub has forgotten an ended poster since `isMissingMore` became true.
    ///
    /// In that case a check of all topics does not find every loss.
    var hasForgotten = false
    var lastBatch: UInt64 = 0
    /// The maximum number of unconfirmed posts; when it is reached, no further post is sent.
    var credits = 1_024
    /// True if posters no longer wait for the connection's confirmations.
    ///
    /// This becomes true when the queue has no room for a post, or when the connection has confirmed no posts for too long. It
    /// becomes false when the connection has confirmed all posts.
    var isBehind = false
    /// True if the connection has confirmed posts since the last check, or if it held no posts at the time of that check.
    var hasConfirmed = true
    var owesAcknowledgement = false
    /// True while the hub delays an acknowledgement to this connection.
    ///
    /// The connection has sent posts, and the hub waits for other connections to confirm the posts.
    var isPatient = false
    /// The horizons in those parts of the poster's opening announcement that have arrived.
    ///
    /// The list is emptied when the last part has arrived.
    var opening: [Horizon] = []
    /// True after the poster has announced its end.
    var hasEnded = false
    var isReady = false

    init(poster: PosterID) { self.poster = poster }

    /// True if a further post may be sent before the connection confirms earlier ones.
    var hasCredits: Bool { unconfirmed.count < credits }

    /// True if the connection has not confirmed all posts that are queued for it or were sent to it.
    var holdsPosts: Bool { queuedPosts > 0 || !unconfirmed.isEmpty }

    /// True if posts were left out of the queue for lack of room, and this loss has not been reported to the connection.
    var misses: Bool { !missed.isEmpty || isMissingMore }

    /// Adds a post to the queue, or records that the queue has no room for it.
    ///
    /// - Returns: True if the poster waits for the connection to confirm the post.
    mutating func enqueue(_ post: Post, _ position: Position, _ limits: Hub.Limits) -> Bool {
        if queuedPosts >= limits.queuedPosts
            || queuedPosts > 0 && queuedBytes + post.cost > limits.queuedBytes
        {
            miss(MissedTopic(poster: post.poster, topic: post.topic), post.number, most: limits.missedTopics)
            return false
        }
        // A loss in the topic is reported before the next post of the topic.
        if !missed.isEmpty {
            let key = MissedTopic(poster: post.poster, topic: post.topic)
            if let number = missed.removeValue(forKey: key) {
                queue.append(.item(.horizon(key.loss(number))))
            }
        }
        queue.append(.post(post, position))
        queuedPosts += 1
        queuedBytes += post.cost
        return !isBehind
    }

    /// Records that a post of a topic was left out of the queue for lack of room.
    private mutating func miss(_ topic: MissedTopic, _ number: UInt64, most: Int) {
        if missed[topic] == nil && missed.count >= most {
            isMissingMore = true
        } else {
            missed[topic] = number
        }
    }

    /// Removes and returns the oldest unconfirmed post, if it was sent in `batch` or an earlier batch; otherwise returns nil.
    mutating func takeConfirmed(upTo batch: UInt64) -> Unconfirmed? {
        guard let first = unconfirmed.first, first.batch <= batch else { return nil }
        hasConfirmed = true
        return unconfirmed.removeFirst()
    }

    /// The next content of a batch.
    enum Next {
        /// An item, which was taken out of the queue.
        case item(EngineBatch.Item)
        /// Reports about missed posts; the queue now has room for these reports.
        case missed
        /// The next of the earlier posts that a subscription has asked for.
        case replay
        /// Nothing: all is sent, the rest does not fit, or the connection has no credits.
        case nothing
    }

    /// Returns the next content for a batch.
    ///
    /// If the content is an item, the method removes the item from the queue.
    mutating func takeNext(for batch: UInt64, fits room: Int) -> Next {
        if !queue.isEmpty { return takeFirst(for: batch, fits: room).map { .item($0) } ?? .nothing }
        if misses { return .missed }
        return hasCredits && !replays.isEmpty ? .replay : .nothing
    }

    /// Removes and returns the first item of the queue, if the item can be sent now.
    ///
    /// Returns nil if the queue is empty. If the first item is a post, and the post is larger than `room` or the connection has no
    /// credits, the method leaves the post in the queue, and returns nil.
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
    /// The number of bytes that the item adds to the size of its batch.
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

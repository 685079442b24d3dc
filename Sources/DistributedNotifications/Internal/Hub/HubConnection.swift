internal import DequeModule

/// The state that a hub keeps for one connection.
struct HubConnection: Hashable, Sendable {
    /// The state of the poster at the other end.
    enum Posting: Hashable, Sendable {
        /// Its first announcement on this connection has not arrived completely.
        case opening
        /// It posts.
        case open
        /// It has announced its end.
        case ended
    }

    /// The acknowledgement of the posts that have arrived on the connection.
    enum Acknowledgement: Hashable, Sendable {
        /// All posts are acknowledged.
        case none
        /// An acknowledgement is delayed, because other connections will probably confirm the posts soon.
        case delayed
        /// An acknowledgement is sent next.
        case owed
    }

    /// The speed at which the connection confirms the posts that it gets.
    enum Pace: Hashable, Sendable {
        /// It has confirmed posts since the last check, or held none at the time of that check.
        case confirming
        /// It has confirmed none since the last check.
        case silent
        /// Posters no longer wait for it, because its queue had no room for a post, or because it was silent for too long.
        ///
        /// This ends when the connection has confirmed all posts.
        case behind
    }

    /// A post that was sent, and that the connection has not confirmed.
    struct Unconfirmed: Hashable, Sendable {
        let batch: UInt64
        let poster: PosterID
        let number: UInt64
    }

    struct Subscribed: Hashable, Sendable {
        enum Phase: Hashable, Sendable {
            /// Its turn to begin has not come.
            case waiting(Replay)
            /// The posts that it asked for are being sent.
            case replaying(Replay)
            /// It gets new posts.
            case live
        }

        let request: Subscription
        var phase: Phase
        /// True if the hub no longer has all posts after the position at which the subscription continues.
        var isTrimmed = false

        var isLive: Bool { phase == .live }

        /// The number of bytes that a subscription counts as.
        static func cost(of request: Subscription) -> Int {
            (request.name?.utf8.count ?? 0) + (request.sender?.utf8.count ?? 0) + 448
        }
    }

    /// The earlier posts that a subscription asked for and has yet to get.
    struct Replay: Hashable, Sendable {
        /// The position of the first post to look at.
        var next: UInt64
        /// The lower limit on the date of the posts to send; nil for no limit.
        var since: Int64?
    }

    /// A step before a subscription gets new posts, one after another.
    enum Start: Hashable, Sendable {
        /// The connection is told of the posters.
        case posters
        /// A subscription gets the earlier posts that it has asked for, and then begins.
        case subscription(UInt64)
    }

    let poster: PosterID
    /// The number of the share of the connection's process.
    let share: Int
    var posting = Posting.opening
    var acknowledgement = Acknowledgement.none
    var pace = Pace.confirming
    var subscriptions = GradualTable<UInt64, Subscribed>()
    /// The steps that wait; the first of them may be under way.
    var starts = Deque<Start>()
    var queue = HubQueue()
    var losses = HubLosses()
    var unconfirmed = Deque<Unconfirmed>()
    var lastBatch: UInt64 = 0
    /// The maximum number of unconfirmed posts; when it is reached, no further post is sent.
    var credits = 1_024
    /// True while the connection is in ``Hub/ready``.
    var isReady = false

    init(poster: PosterID, share: Int) {
        self.poster = poster
        self.share = share
    }

    /// True if a further post may be sent before the connection confirms earlier ones.
    var hasCredits: Bool { unconfirmed.count < credits }

    /// True if the connection has not confirmed all posts that are queued for it or were sent to it.
    var holdsPosts: Bool { queue.postCount > 0 || !unconfirmed.isEmpty }

    /// Removes and returns the oldest unconfirmed post, if it was sent in `batch` or an earlier batch; otherwise returns nil.
    mutating func takeConfirmed(upTo batch: UInt64) -> Unconfirmed? {
        guard let first = unconfirmed.first, first.batch <= batch else { return nil }
        switch pace {
        case .silent: pace = .confirming
        case .confirming, .behind: break
        }
        return unconfirmed.removeFirst()
    }

    /// Removes the steps whose subscriptions were removed or have begun, except for the first step.
    mutating func dropIdleStarts() {
        guard let first = starts.popFirst() else { return }
        var known: Set<UInt64> = []
        starts.removeAll { start in
            guard case .subscription(let number) = start else { return false }
            guard let subscribed = subscriptions[number], !subscribed.isLive else { return true }
            return !known.insert(number).inserted
        }
        starts.prepend(first)
    }

    /// Notes that the connection may have confirmed all posts, so that posters wait for it again.
    mutating func catchUp() {
        switch pace {
        case .behind: if !holdsPosts && losses.isEmpty { pace = .confirming }
        case .confirming, .silent: break
        }
    }

    /// Checks if the connection has confirmed posts since the last check.
    ///
    /// - Returns: `isAwaited` is true if posters were waiting for the connection, and `isSlow` if they waited for too long.
    mutating func checkPace() -> (isAwaited: Bool, isSlow: Bool) {
        switch pace {
        case .behind: return (false, false)
        case .confirming:
            if holdsPosts { pace = .silent }
            return (holdsPosts, false)
        case .silent:
            if !holdsPosts { pace = .confirming }
            return (holdsPosts, holdsPosts)
        }
    }

    /// The next content of a batch.
    enum Next {
        /// An item, which was taken out of the queue.
        case item(EngineBatch.Item)
        /// A further part of the survey at the front of the queue.
        case survey(HubSurvey)
        /// Reports about missed posts; the queue now has room for these reports.
        case losses
        /// The first of ``starts``.
        case start(Start)
        /// Nothing: all is sent, the rest does not fit, or the connection has no credits.
        case nothing
    }

    /// Returns the next content for a batch.
    ///
    /// If the content is an item, the method removes the item from the queue.
    mutating func takeNext(for batch: UInt64, fits room: Int) -> Next {
        switch queue.first {
        case .survey: return queue.survey.map { .survey($0) } ?? .nothing
        case .item, .post: return takeFirst(for: batch, fits: room).map { .item($0) } ?? .nothing
        case nil: break
        }
        if !losses.isEmpty { return .losses }
        return starts.first.map { .start($0) } ?? .nothing
    }

    /// Removes and returns the first item of the queue, if the item can be sent now.
    ///
    /// Returns nil if the queue is empty. If the first item is a post, and the post is larger than `room` or the connection has no
    /// credits, the method leaves the post in the queue, and returns nil.
    mutating func takeFirst(for batch: UInt64, fits room: Int) -> EngineBatch.Item? {
        switch queue.first {
        case nil, .survey: return nil
        case .item(let item):
            queue.removeFirst()
            return item
        case .post(let post, let position):
            if !hasCredits || post.cost > room { return nil }
            queue.removeFirst()
            unconfirmed.append(Unconfirmed(batch: batch, poster: post.poster, number: post.number))
            return .post(.init(post: post, position: position))
        }
    }
}

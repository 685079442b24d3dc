internal import DequeModule

/// The log of one poster's posts: their numbers, and the posts that are kept until they are settled.
///
/// A pure value, which uses no engine and no clock. The center hands its posts to the engine in the order of ``next``, and notes
/// connections and acknowledgements here.
struct PosterLog: Hashable, Sendable {
    /// The limits of the kept posts.
    ///
    /// Once the engine applies its own limits to a post, the post no longer counts towards `posts` and `bytes`.
    struct Limits: Hashable, Sendable {
        var posts: Int
        var bytes: Int
        var topics: Int
    }

    /// The numbers that the log keeps for one topic.
    private struct Mark: Hashable, Sendable {
        /// The number of the newest post.
        var last: UInt64 = 0
        /// The number of the newest post that is no longer kept.
        var gone: UInt64 = 0
        /// The number of the newest post that an engine has accepted and that is no longer kept.
        var base: UInt64 = 0
        /// The time of the post with the number `gone`.
        var goneTime: Int64 = 0
        /// The time of the post with the number `base`.
        var baseTime: Int64 = 0
    }

    /// The result of adding a post.
    enum Added: Hashable, Sendable {
        /// The post was added with this number. The posts with the numbers `dropped` were dropped to make room for it.
        case taken(UInt64, dropped: [UInt64])
        /// The log has no room for the post.
        case full
        /// The topic of the post is new, but the log already has the maximum number of topics.
        case tooManyTopics
    }

    let poster: PosterID
    let limits: Limits
    private(set) var lastNumber: UInt64 = 0
    /// The number up to which an engine has accepted posts.
    private(set) var accepted: UInt64 = 0
    /// The number up to which every post was settled or dropped.
    private(set) var settled: UInt64 = 0
    /// The posts that are kept, in the order of their numbers.
    private(set) var retained = Deque<Post>()
    /// The times of the kept posts by ``MachineClock``, in the order of ``retained``.
    private var times = Deque<Int64>()
    /// The number of the last post that does not count towards the log's limits.
    ///
    /// The engine has limits of its own for this post and all earlier ones.
    private var exempt: UInt64 = 0
    /// The size, in bytes, of those kept posts that count towards the limits.
    private var bytes = 0
    private var marks: [Topic: Mark] = [:]
    private var isConnected = false
    private var sharesClock = false
    /// The number of the newest post that needs no more handing over on this connection.
    ///
    /// For each post up to this one, there are three cases. The post was handed over on this connection; or it was no longer kept
    /// when the connection began; or it was dropped, and a horizon replaces it.
    private var sent: UInt64 = 0
    /// The posts that were dropped after they were handed over on this connection, and before the engine accepted them.
    private var droppedOnTheWay = Deque<Dropped>()
    /// The dropped posts that the next announcement reports: for each topic, the number of the newest dropped post.
    private(set) var due: [Topic: UInt64] = [:]

    private struct Dropped: Hashable, Sendable {
        let topic: Topic
        let number: UInt64
        let time: Int64
    }

    init(_ poster: PosterID, _ limits: Limits) {
        self.poster = poster
        self.limits = limits
    }

    // MARK: - Posting

    /// Adds a post, which gets the next number.
    ///
    /// A refused post gets no number. With `dropsOldest`, the oldest posts are dropped when there is no room. `date` is the date
    /// that observers see, and `time` is the time by ``MachineClock``.
    mutating func add(
        _ topic: Topic, payload: [UInt8], date: Int64 = 0, at time: Int64 = 0, isImmediate: Bool = false,
        dropsOldest: Bool
    ) -> Added {
        let place = marks.index(forKey: topic)
        if place == nil && marks.count >= limits.topics { return .tooManyTopics }
        let post = Post(
            poster: poster, number: lastNumber + 1, previous: place.map { marks.values[$0].last } ?? 0,
            topic: topic, date: date, isImmediate: isImmediate, payload: payload)
        if lacksRoom(for: post) && !dropsOldest { return .full }
        var dropped: [UInt64] = []
        // A post that alone exceeds the limits is kept if no other post counts towards them.
        while lacksRoom(for: post) {
            let number = dropOldest()
            // The engine has accepted the posts up to `exempt`, and observers do not miss them.
            if number > exempt { dropped.append(number) }
        }
        lastNumber = post.number
        // Dropping posts neither adds nor removes a topic, so the index of the topic is still valid.
        if let place {
            marks.values[place].last = post.number
        } else {
            marks[topic] = Mark(last: post.number)
        }
        retained.append(post)
        times.append(time)
        bytes += post.cost
        return .taken(post.number, dropped: dropped)
    }

    private func lacksRoom(for post: Post) -> Bool {
        let count = lastNumber - max(exempt, settled)
        return count > 0 && (count >= limits.posts || bytes + post.cost > limits.bytes)
    }

    private mutating func dropOldest() -> UInt64 {
        let (post, time) = removeOldest()
        if isConnected {
            if post.number > sent {
                due[post.topic] = post.number
                // A horizon will stand for the post, so the post counts as handed over.
                sent = post.number
            } else if post.number > accepted {
                droppedOnTheWay.append(Dropped(topic: post.topic, number: post.number, time: time))
            }
        }
        return post.number
    }

    private mutating func removeOldest() -> (Post, Int64) {
        let (post, time) = (retained.removeFirst(), times.removeFirst())
        if post.number > exempt { bytes -= post.cost }
        settled = post.number
        if let place = marks.index(forKey: post.topic) {
            (marks.values[place].gone, marks.values[place].goneTime) = (post.number, time)
            if post.number <= accepted {
                (marks.values[place].base, marks.values[place].baseTime) = (post.number, time)
            }
        }
        return (post, time)
    }

    // MARK: - Handing over

    /// The next post to hand over; nil if there is none.
    var next: Post? { next(atMost: 1).first }

    /// Returns the next posts to hand over, in order, at most `most` of them.
    func next(atMost most: Int) -> [Post] {
        guard isConnected, let oldest = retained.first, sent < lastNumber else { return [] }
        // The numbers of the kept posts are consecutive.
        let start = Int(max(sent, oldest.number - 1) + 1 - oldest.number)
        return Array(retained[start..<min(start + most, retained.count)])
    }

    /// Removes and returns the announcement of posts that were dropped before they were handed over; nil if there is none.
    ///
    /// The announcement is handed over before ``next``.
    mutating func takeAnnouncement() -> Announcement? {
        if due.isEmpty { return nil }
        let horizons = due.map { topic, number in
            Horizon(
                poster: poster, topic: topic, number: number, time: time(marks[topic]?.goneTime),
                reason: .posterFull)
        }.sorted { $0.number < $1.number }
        due = [:]
        return Announcement(horizons: horizons, number: sent, isOpening: false)
    }

    /// Notes that the engine has taken all posts up to `number`.
    mutating func handedOver(_ number: UInt64) { sent = max(sent, number) }

    // MARK: - The connection

    /// Notes that the engine is connected, so that all kept posts are handed over again.
    ///
    /// - Parameter sharesClock: True if the observers read the same clock as this poster.
    /// - Returns: An announcement with horizons in place of the posts that are no longer kept.
    mutating func connect(sharesClock: Bool) -> Announcement {
        isConnected = true
        self.sharesClock = sharesClock
        sent = (retained.first?.number ?? lastNumber + 1) - 1
        due = [:]
        droppedOnTheWay = []
        var horizons: [Horizon] = []
        for (topic, mark) in marks {
            if mark.base > 0 {
                horizons.append(
                    Horizon(
                        poster: poster, topic: topic, number: mark.base, time: time(mark.baseTime),
                        isBase: !sharesClock, reason: .notKept))
            }
            if mark.gone > mark.base {
                horizons.append(
                    Horizon(
                        poster: poster, topic: topic, number: mark.gone, time: time(mark.goneTime),
                        reason: .posterFull))
            }
        }
        return Announcement(
            horizons: horizons.sorted { $0.number < $1.number }, number: sent, isOpening: true)
    }

    /// Returns the time for a horizon.
    ///
    /// If the centers share a clock and the given time is not nil, this is the given time. Otherwise it is the maximum.
    private func time(_ time: Int64?) -> Int64 { sharesClock ? time ?? .max : .max }

    /// Notes that the connection has ended.
    mutating func disconnect() {
        isConnected = false
        droppedOnTheWay = []
        due = [:]
    }

    /// Processes an acknowledgement.
    ///
    /// - Returns: True if the log has more room for posts than before.
    mutating func acknowledge(accepted: UInt64, settled: UInt64, exempt: UInt64 = 0) -> Bool {
        // If an engine acknowledges more than was posted, the excess is ignored.
        self.accepted = max(self.accepted, min(accepted, lastNumber))
        while let first = droppedOnTheWay.first, first.number <= self.accepted {
            droppedOnTheWay.removeFirst()
            marks[first.topic]?.base = first.number
            marks[first.topic]?.baseTime = first.time
        }
        var hasRoom = false
        while let oldest = retained.first, oldest.number <= min(settled, self.accepted) {
            _ = removeOldest()
            hasRoom = true
        }
        let end = min(exempt, self.accepted)
        while let oldest = retained.first, max(self.exempt, oldest.number - 1) < end {
            self.exempt = max(self.exempt, oldest.number - 1) + 1
            bytes -= retained[Int(self.exempt - oldest.number)].cost
            hasRoom = true
        }
        return hasRoom
    }

    /// True if the engine has yet to accept some of the posts that were handed over on this connection.
    var isOwed: Bool { isConnected && accepted < sent }
}

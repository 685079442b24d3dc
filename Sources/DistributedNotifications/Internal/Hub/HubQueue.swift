internal import DequeModule

/// The events that wait to be sent to one connection.
struct HubQueue: Hashable, Sendable {
    /// An event that waits to be sent.
    enum Waiting: Hashable, Sendable {
        case post(Post, Position)
        case item(EngineBatch.Item)
        /// The parts of the survey, which are made when they are sent.
        case survey

        /// The number of bytes that the event counts as.
        var cost: Int {
            switch self {
            case .post(let post, _): post.cost
            case .item(let item): item.cost
            case .survey: 0
            }
        }
    }

    private var waiting = Deque<Waiting>()
    /// The survey whose parts are sent in its place in the queue; nil if the queue has none.
    private(set) var survey: HubSurvey?
    private(set) var postCount = 0
    private var postBytes = 0
    /// The bytes of everything that waits.
    private(set) var bytes = 0

    var count: Int { waiting.count }
    var first: Waiting? { waiting.first }

    /// Returns true if the queue has room for a post.
    func hasRoom(for post: Post, _ limits: Hub.Limits) -> Bool {
        postCount < limits.queuedPosts && (postCount == 0 || postBytes + post.cost <= limits.queuedBytes)
    }

    /// Adds a post.
    ///
    /// `before` is the number that the topic had before the post. A survey in the queue tells this number, because the post comes
    /// after the survey.
    mutating func append(_ post: Post, _ position: Position, before: UInt64) {
        waiting.append(.post(post, position))
        postCount += 1
        postBytes += post.cost
        bytes += post.cost
        if survey != nil { survey?.note(.init(poster: post.poster, topic: post.topic), before) }
    }

    mutating func append(_ item: EngineBatch.Item) {
        waiting.append(.item(item))
        bytes += item.cost
    }

    mutating func append(_ survey: HubSurvey) {
        precondition(self.survey == nil, "a queue has one survey")
        self.survey = survey
        waiting.append(.survey)
    }

    /// Changes the survey, which stays in its place; nil if it is complete.
    mutating func replaceSurvey(_ survey: HubSurvey?) {
        self.survey = survey
        if survey == nil { waiting.removeFirst() }
    }

    mutating func removeFirst() {
        let removed = waiting.removeFirst()
        bytes -= removed.cost
        if case .post(let post, _) = removed {
            postCount -= 1
            postBytes -= post.cost
        }
    }

    /// The posts that wait.
    var posts: [Post] { waiting.compactMap { if case .post(let post, _) = $0 { post } else { nil } } }

    /// Removes items, for tests.
    mutating func removeItems(where isRemoved: (EngineBatch.Item) -> Bool) {
        waiting.removeAll { if case .item(let item) = $0 { isRemoved(item) } else { false } }
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

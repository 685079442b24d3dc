internal import DequeModule
internal import DistributedNotifications

/// A scan of the stream for subscriptions that are not live, from a place to the end.
///
/// A pure value. It takes the replies of the server, and makes the items for the center.
struct StreamScan: Sendable {
    /// The subscriptions, which all start in the same place.
    private(set) var subscriptions: [Subscription]
    /// The subscriptions among them that had begun before, for which missing posts are a loss.
    let begun: Set<UInt64>
    /// The place up to which entries were read; nil to read none.
    private(set) var cursor: EntryID?
    /// The earliest date of a post to deliver; nil for any date.
    let since: Int64?
    /// The largest number of posts for each subscription, which gets the newest ones; nil for no limit.
    let newest: Int?
    /// The newest posts so far, if there is such a limit.
    private var held: [UInt64: Deque<EngineBatch.Delivered>] = [:]
    /// True if entries after the start are missing or may be missing.
    private(set) var isTrimmed: Bool
    private var hasBegun = false
    /// The posters of which a post was read.
    private var seen: Set<PosterID> = []

    init(
        _ subscriptions: [Subscription], begun: Set<UInt64>, after cursor: EntryID?, since: Int64? = nil,
        newest: Int? = nil, isTrimmed: Bool = false
    ) {
        self.subscriptions = subscriptions
        self.begun = begun
        self.cursor = cursor
        self.since = since
        self.newest = newest
        self.isTrimmed = isTrimmed
    }

    /// Removes the subscriptions that have ended.
    mutating func keep(_ isWanted: (Subscription) -> Bool) { subscriptions.removeAll { !isWanted($0) } }

    /// Takes entries.
    ///
    /// - Parameters:
    ///   - entries: The next entries of the stream.
    ///   - first: The lowest ID that the stream has.
    /// - Returns: The items for the center.
    mutating func take(_ entries: [StreamEntry], first: EntryID) -> [EngineBatch.Item] {
        guard let start = cursor else { return [] }
        if !hasBegun {
            hasBegun = true
            // Entries are removed from the front, so if an earlier one is there, no later one is missing.
            if start != .zero && first > start { isTrimmed = true }
        }
        var items: [EngineBatch.Item] = []
        for entry in entries {
            cursor = entry.id
            switch entry.content {
            case .beginning, .unknown: continue
            case .horizons(let horizons): items += horizons.map { .horizon($0) }
            case .end(let end):
                seen.insert(end.poster)
                items.append(.ended(end))
            case .posts(let posts): for post in posts { append(post, entry.id, &items) }
            }
        }
        return items
    }

    private mutating func append(_ post: Post, _ position: EntryID, _ items: inout [EngineBatch.Item]) {
        let isNew = seen.insert(post.poster).inserted
        for subscription in subscriptions {
            if isTrimmed && isNew && begun.contains(subscription.number) {
                let mark = Baseline.Mark(poster: post.poster, topic: nil, number: post.number - 1)
                items.append(
                    .baseline(
                        Baseline(
                            subscription: subscription.number, marks: [mark], position: position,
                            isLast: false)))
            }
            if !subscription.matches(post.topic) || since.map({ post.date < $0 }) ?? false { continue }
            let delivered = EngineBatch.Delivered(
                post: post, position: position, subscription: subscription.number)
            guard let newest else {
                items.append(.post(delivered))
                continue
            }
            held[subscription.number, default: []].append(delivered)
            if held[subscription.number, default: []].count > newest {
                held[subscription.number]?.removeFirst()
            }
        }
    }

    /// Ends the scan.
    ///
    /// - Parameters:
    ///   - known: The last number of each poster at the end of the stream.
    ///   - end: The place up to which everything was read.
    /// - Returns: The baselines of the subscriptions.
    mutating func finish(_ known: [(poster: PosterID, number: UInt64)], at end: EntryID) -> [EngineBatch.Item]
    {
        subscriptions.flatMap { subscription -> [EngineBatch.Item] in
            var marks: [Baseline.Mark] = []
            if !begun.contains(subscription.number) {
                marks = known.map { Baseline.Mark(poster: $0.poster, topic: nil, number: $0.number) }
            } else if isTrimmed {
                marks = known.filter { !seen.contains($0.poster) }
                    .map { Baseline.Mark(poster: $0.poster, topic: nil, number: $0.number) }
            }
            return (held[subscription.number] ?? []).map { .post($0) } + [
                .baseline(Baseline(subscription: subscription.number, marks: marks, position: end))
            ]
        }
    }
}

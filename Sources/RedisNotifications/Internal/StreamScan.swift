internal import DequeModule
internal import DistributedNotifications

/// A scan of the stream, from a position to the end.
///
/// The scan is for subscriptions that have not caught up with the stream, and so do not get new entries yet.
///
/// A pure value. It converts the replies of the server into the items for the center.
struct StreamScan: Sendable {
    /// The position in the stream from which a scan reads.
    enum Start: Hashable, Sendable {
        /// The end of the stream.
        ///
        /// The scan reads no entries.
        case end
        /// The first entry of the stream.
        ///
        /// The subscriptions have not begun.
        case first
        /// The entry after the given position.
        ///
        /// The subscriptions continue at that entry.
        case after(EntryID)
        /// The first entry of the stream.
        ///
        /// The associated value is the subscriptions' position. It is from an earlier run of the server, so it may be invalid.
        case again(EntryID)
        /// The first entry of the stream.
        ///
        /// The subscriptions have positions, but these belong to another generation of the server's data.
        case otherGeneration
    }

    /// The state of the server's data when a scan has reached the end of the stream.
    struct Store: Sendable {
        /// The posters that have not ended, each with the number of its newest post.
        var living: [(poster: PosterID, number: UInt64)] = []
        /// The ended posters that the server remembers, each with the ID of the entry that records its end.
        var ended: [(end: PosterEnd, id: EntryID)] = []
        /// The ID of the entry about the newest forgotten end of a poster; nil if the server has forgotten no end.
        ///
        /// An end is forgotten if the server no longer remembers the ended poster.
        var forgotten: EntryID?
    }

    /// The subscriptions, which all start at the same position.
    private(set) var subscriptions: [Subscription]
    let start: Start
    /// The ID of the last entry that the scan has read; nil if the scan reads no entries.
    ///
    /// Before the first entry is read, this is the ID after which the scan starts.
    private(set) var cursor: EntryID?
    /// The earliest date of the posts to deliver; nil for any date.
    let since: Int64?
    /// The maximum number of posts that each subscription gets; nil for no limit.
    ///
    /// If there are more posts, the subscription gets the newest of them.
    let newest: Int?
    /// For each subscription, the newest posts that the scan has found so far, which its ``Ending`` delivers; empty if `newest` is nil.
    private(set) var held: [UInt64: Deque<EngineBatch.Delivered>] = [:]
    /// True if the stream has lost entries that the subscriptions have not read, or may have lost such entries.
    private(set) var isTrimmed: Bool
    /// The posters of the entries that the scan has read since it last found a gap in the stream.
    ///
    /// The set is empty unless ``isTrimmed`` is true.
    private(set) var seen: Set<PosterID> = []
    /// The content of ``ReadingMemory/begun`` at the start of the scan, at least for the subscriptions of the scan.
    ///
    /// The keys are the numbers of the subscriptions that had begun before the scan. For these subscriptions, a post that is
    /// missing from the stream counts as lost.
    let begun: [UInt64: UInt64]
    let ended: EndedPosters

    init(
        _ subscriptions: [Subscription], from start: Start, _ memory: ReadingMemory, since: Int64? = nil,
        newest: Int? = nil
    ) {
        self.subscriptions = subscriptions
        self.start = start
        self.since = since
        self.newest = newest
        switch start {
        case .end: cursor = nil
        case .first, .again, .otherGeneration: cursor = .zero
        case .after(let place): cursor = place
        }
        let numbers = subscriptions.map(\.number)
        isTrimmed = memory.haveMissed(numbers)
        begun =
            memory.begun.count < numbers.count
            ? memory.begun
            : Dictionary(
                uniqueKeysWithValues: numbers.compactMap { number in memory.begun[number].map { (number, $0) }
                })
        ended = memory.ended
    }

    /// Removes the subscriptions that have ended: those for which the given closure returns false.
    mutating func keep(_ isWanted: (Subscription) -> Bool) { subscriptions.removeAll { !isWanted($0) } }

    // MARK: - Entries

    /// Processes the next entries of the stream.
    ///
    /// - Parameters:
    ///   - entries: The next entries of the stream.
    ///   - first: The ID of the first entry that the stream still has.
    /// - Returns: The items for the center.
    mutating func take(_ entries: [StreamEntry], first: EntryID) -> [EngineBatch.Item] {
        guard let cursor else { return [] }
        if hasLost(between: cursor, and: first, entries.first) {
            isTrimmed = true
            seen = []
        }
        var items: [EngineBatch.Item] = []
        for entry in entries {
            self.cursor = entry.id
            switch entry.content {
            case .beginning, .unknown: continue
            case .horizons(let horizons, let poster, let number):
                let wanting = wanting(poster)
                mark(poster, number, entry.id, wanting, &items)
                for subscription in wanting where begun[subscription.number] != nil {
                    items += horizons.map { .horizon($0, only: subscription.number) }
                }
            case .end(let end):
                let wanting = wanting(end.poster)
                mark(end.poster, end.accepted, entry.id, wanting, &items)
                items += wanting.map { .ended(end, only: $0.number) }
            case .posts(let posts):
                guard let first = posts.first else { continue }
                let wanting = wanting(first.poster)
                mark(first.poster, first.number - 1, entry.id, wanting, &items)
                for post in posts {
                    for subscription in wanting { append(post, entry.id, subscription, &items) }
                }
            }
        }
        return items
    }

    /// Returns true if entries after the cursor were removed before they were read.
    ///
    /// The server removes the oldest entries first. So if an entry still exists, all newer entries still exist, too.
    private func hasLost(between cursor: EntryID, and first: EntryID, _ entry: StreamEntry?) -> Bool {
        if cursor != .zero { return first > cursor }
        switch start {
        case .end, .first, .after: return false
        case .again(let place): return first > place
        case .otherGeneration: return entry?.content != .beginning
        }
    }

    /// Returns the subscriptions that have not yet read the entry about the end of the given poster.
    private func wanting(_ poster: PosterID) -> [Subscription] {
        subscriptions.filter { subscription in
            !(begun[subscription.number].map { ended.contains(poster, amongFirst: $0) } ?? false)
        }
    }

    /// Adds baselines if an entry is the first entry of a poster after a gap in the stream.
    ///
    /// A ``Baseline`` is added for each subscription that had begun before this scan. The baseline contains the number of the
    /// poster's last post before the entry, because posts up to that number can be missing.
    private mutating func mark(
        _ poster: PosterID, _ number: UInt64, _ position: EntryID, _ wanting: [Subscription],
        _ items: inout [EngineBatch.Item]
    ) {
        if !isTrimmed || !seen.insert(poster).inserted { return }
        for subscription in wanting where begun[subscription.number] != nil {
            let mark = Baseline.Mark(poster: poster, topic: nil, number: number)
            items.append(
                .baseline(
                    Baseline(
                        subscription: subscription.number, marks: [mark], position: position, isLast: false)))
        }
    }

    private mutating func append(
        _ post: Post, _ position: EntryID, _ subscription: Subscription, _ items: inout [EngineBatch.Item]
    ) {
        if !subscription.matches(post.topic) || since.map({ post.date < $0 }) ?? false { return }
        let delivered = EngineBatch.Delivered(
            post: post, position: position, subscription: subscription.number)
        guard let newest else { return items.append(.post(delivered)) }
        held[subscription.number, default: []].append(delivered)
        if held[subscription.number, default: []].count > newest {
            held[subscription.number]?.removeFirst()
        }
    }
}

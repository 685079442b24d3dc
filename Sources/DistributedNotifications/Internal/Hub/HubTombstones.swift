/// The records of the posters that have ended, up to a number of posters and of topics.
struct HubTombstones: Hashable, Sendable {
    struct Tombstone: Hashable, Sendable {
        let end: PosterEnd
        let poster: HubPoster
        /// The position of the hub's newest post at the moment when the poster ended.
        let position: UInt64

        /// True if posts may have been lost.
        var isLossy: Bool { end.last != end.accepted }
    }

    private var tombstones: [PosterID: Tombstone] = [:]
    /// The posters; the process that has left most is forgotten first.
    private var order = FairQueue<PosterID, Int>()
    /// The posters that have possibly lost posts.
    private(set) var lossy: Set<PosterID> = []
    /// The highest ``Tombstone/position`` of all forgotten tombstones; nil if none was forgotten.
    private var forgotten: UInt64?
    /// The same as ``forgotten``, but only for posters whose last posts may never have reached the hub.
    private var forgottenTail: UInt64?

    var count: Int { tombstones.count }
    var topicCount: Int { order.weight - order.count }

    subscript(poster: PosterID) -> Tombstone? { tombstones[poster] }

    mutating func add(_ tombstone: Tombstone) {
        let name = tombstone.end.poster
        tombstones[name] = tombstone
        if tombstone.isLossy { lossy.insert(name) }
        order.append(name, of: tombstone.poster.share, weight: 1 + tombstone.poster.marks.count)
    }

    /// Removes the tombstone of a poster that was treated as ended, and is back.
    mutating func remove(_ poster: PosterID) -> Tombstone? {
        guard let removed = tombstones.removeValue(forKey: poster) else { return nil }
        lossy.remove(poster)
        order.remove(poster)
        return removed
    }

    /// Removes a tombstone if there are too many, or too many topics in them.
    mutating func forget(_ limits: Hub.Limits) -> Tombstone? {
        guard count > limits.tombstones || topicCount > limits.tombstoneTopics,
            let removed = order.firstOfGreediest.flatMap({ remove($0) })
        else { return nil }
        forgotten = max(forgotten ?? 0, removed.position)
        if removed.isLossy { forgottenTail = max(forgottenTail ?? 0, removed.position) }
        return removed
    }

    /// Returns true if a subscription may have missed posts of a poster that the hub has forgotten.
    ///
    /// - Parameters:
    ///   - start: The start of the subscription.
    ///   - isTrimmed: True if the hub no longer has all posts after the start.
    ///   - epoch: The epoch of the hub.
    /// - Returns: True if posts may be missing.
    func hasForgotten(since start: Subscription.Start, isTrimmed: Bool, in epoch: Epoch) -> Bool {
        guard case .after(let position, let known) = start else { return false }
        let place = known == epoch ? position.low : 0
        return isTrimmed && forgotten.map { $0 > place } ?? false
            || forgottenTail.map { $0 >= place } ?? false
    }
}

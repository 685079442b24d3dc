internal import DequeModule

/// The state of a hub: the posters, the connections, and the posts between them.
///
/// A pure value, without sockets and clocks. Its owner passes it each message that arrives on a connection, entry by entry. While
/// a connection has room, the owner calls ``next(for:)`` and sends the messages that the calls return, in the same order.
///
/// No call works on more than one of these: a post or an event and the connections that get it, the queue of one connection, or
/// some hundred subscriptions or marks. What is more than that is left for calls of ``tidy()`` or ``next(for:)``.
struct Hub: Hashable, Sendable {
    typealias ConnectionID = UInt64

    /// A message to a connection.
    enum Output: Hashable, Sendable {
        case acknowledged(accepted: UInt64, settled: UInt64)
        case batch(EngineBatch)
    }

    /// Work that was too much for one call.
    enum Leftover: Hashable, Sendable {
        /// The subscriptions of a connection that was closed.
        case subscriptions(GradualTable<UInt64, HubConnection.Subscribed>, ConnectionID, share: Int)
        /// The marks of a poster that is forgotten, and the bytes that they count as.
        case marks(GradualTable<Topic, HubPoster.Mark>, share: Int, bytes: Int)
        /// A connection that was too slow to confirm posts.
        case slow(ConnectionID)
    }

    let epoch: Epoch
    let limits: Limits
    var ring: HubRing
    var posters: [PosterID: HubPoster] = [:]
    var connections: [ConnectionID: HubConnection] = [:]
    var index = HubIndex()
    var shares: HubShares
    var tombstones = HubTombstones()
    var endReports = EndReports()
    /// The connections for which ``acknowledgeLater(at:)`` has delayed an acknowledgement.
    private var patient: [ConnectionID] = []
    /// The connections for which messages may be waiting, each once, in the order in which they are served.
    private var ready = Deque<ConnectionID>()
    /// The connections that the owner has to close, because they read too little.
    private var overrun: Set<ConnectionID> = []
    var leftovers = Deque<Leftover>()

    init(_ epoch: Epoch, _ limits: Limits = Limits()) {
        self.epoch = epoch
        self.limits = limits
        shares = HubShares(limit: limits.bytes)
        ring = HubRing(ofPosts: limits.ringPosts)
    }

    /// Returns the number of posts that are still to be sent to a connection, and the number of sent posts that the
    /// connection has not confirmed.
    func backlog(of connection: ConnectionID) -> (queued: Int, unconfirmed: Int) {
        guard let state = connections[connection] else { return (0, 0) }
        return (state.queue.postCount, state.unconfirmed.count)
    }

    /// The index of a connection in ``connections``, valid until a connection is added or removed.
    typealias Link = Dictionary<ConnectionID, HubConnection>.Index

    /// Reads or changes a connection in place; the dictionary's subscript would copy the connection.
    mutating func at<Result>(_ link: Link, _ body: (inout HubConnection) -> Result) -> Result {
        body(&connections.values[link])
    }

    // MARK: - Connections with messages

    /// Removes and returns the connections whose queues hold more than the limit.
    ///
    /// Such a connection has read nothing for too long, and its queue has no room even for events that are not posts. The owner
    /// closes these connections. When a center connects again, the center asks for the posts that it has missed.
    mutating func takeOverrun() -> [ConnectionID] {
        overrun.isEmpty ? [] : exchange(&overrun, with: []).sorted()
    }

    /// Removes and returns the first connection for which messages may be waiting.
    mutating func takeReady() -> ConnectionID? {
        guard let id = ready.popFirst() else { return nil }
        if let link = connections.index(forKey: id) { at(link) { $0.isReady = false } }
        return id
    }

    mutating func markReady(at link: Link) {
        if !at(link, { exchange(&$0.isReady, with: true) }) { ready.append(connections.keys[link]) }
    }

    /// Adds an event to the queue of a connection.
    mutating func queue(_ item: EngineBatch.Item, at link: Link) {
        markReady(at: link)
        let most = (limits.queuedEvents, limits.queuedBytes + limits.queuedEventBytes)
        let isCounted = shares.charge(connections.values[link].share, item.cost)
        let hasRoom = at(link) { connection in
            if isCounted { connection.queue.append(item) }
            return connection.queue.count <= most.0 && connection.queue.bytes <= most.1
        }
        // A connection that misses an event would count its notifications wrongly, so it has to connect again.
        if !isCounted || !hasRoom { overrun.insert(connections.keys[link]) }
    }

    /// Queues an event for every connection that has a subscription.
    mutating func broadcast(_ item: EngineBatch.Item) {
        for id in index.listeners.connections {
            if let link = connections.index(forKey: id) { queue(item, at: link) }
        }
    }

    // MARK: - Acknowledging

    /// Notes that one more connection has confirmed a post, or will never confirm it.
    ///
    /// The method changes the poster through an index of ``posters``. A change through the key could invalidate the indices that
    /// a caller holds, even if the dictionary does not contain the key.
    mutating func settle(_ poster: PosterID, _ number: UInt64) {
        guard let place = posters.index(forKey: poster), posters.values[place].settle(number) else { return }
        acknowledge(poster)
    }

    mutating func settleAll(of state: HubConnection) {
        for post in state.queue.posts { settle(post.poster, post.number) }
        for waiting in state.unconfirmed { settle(waiting.poster, waiting.number) }
    }

    /// Marks a connection as behind, so that posters no longer wait for its confirmations.
    mutating func fallBehind(at link: Link) {
        let old = at(link) { exchange(&$0.pace, with: .behind) }
        if old != .behind { settleAll(of: connections.values[link]) }
    }

    /// Marks slow connections as behind, so that posters no longer wait for them, and begins another interval of ``EndReports``.
    ///
    /// A connection is slow if it has posts to confirm, but has confirmed none since the last call of this method.
    ///
    /// - Returns: True if there was something to check. The owner then calls this again later.
    mutating func check() -> Bool {
        var wasActive = endReports.isActive
        if endReports.check() { broadcast(.ended(.unknown)) }
        var slowCount = 0
        // The list of indices would hold another reference to the dictionary, which the changes would then copy.
        var link = connections.startIndex
        while link != connections.endIndex {
            let (isAwaited, isSlow) = at(link) { $0.checkPace() }
            if isAwaited { wasActive = true }
            if isSlow {
                slowCount += 1
                if slowCount <= Hub.slowAtOnce {
                    fallBehind(at: link)
                } else {
                    leftovers.append(.slow(connections.keys[link]))
                }
            }
            connections.formIndex(after: &link)
        }
        return wasActive
    }

    /// The number of slow connections whose posts are settled in one call.
    private static let slowAtOnce = 4

    /// True if ``check()`` has to be called after an interval, even if no post has arrived.
    var awaitsCheck: Bool { endReports.isActive }

    /// True if acknowledgements are delayed until other connections confirm the posts.
    var hasPatient: Bool { !patient.isEmpty }

    /// Delays the acknowledgement of a post until other connections have confirmed the post.
    ///
    /// Usually they confirm it soon. Then one message acknowledges both that the post is accepted and that it is settled. The
    /// owner calls ``acknowledgePatient()`` soon, so that the post is acknowledged even if they do not confirm it.
    ///
    /// - Parameter link: The connection that has sent the post.
    mutating func acknowledgeLater(at link: Link) {
        switch connections.values[link].acknowledgement {
        case .none:
            at(link) { $0.acknowledgement = .delayed }
            patient.append(connections.keys[link])
        case .delayed, .owed: break
        }
    }

    /// Ends the delay of all acknowledgements: ``next(for:)`` then returns them even if the posts are not confirmed.
    mutating func acknowledgePatient() {
        for id in patient {
            guard let link = connections.index(forKey: id) else { continue }
            switch connections.values[link].acknowledgement {
            case .delayed: acknowledge(at: link)
            case .none, .owed: break
            }
        }
        patient.removeAll(keepingCapacity: true)
    }

    mutating func acknowledge(_ poster: PosterID) {
        guard let connection = posters[poster]?.connection, let link = connections.index(forKey: connection)
        else { return }
        acknowledge(at: link)
    }

    mutating func acknowledge(at link: Link) {
        at(link) { $0.acknowledgement = .owed }
        markReady(at: link)
    }
}

extension PosterEnd {
    /// The end of posters that are not named: posts of any poster may be missing.
    static let unknown = PosterEnd(poster: .unknown, accepted: 0, last: nil)
}

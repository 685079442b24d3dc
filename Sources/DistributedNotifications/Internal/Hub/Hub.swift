internal import DequeModule

/// The state of a hub: the posters, the connections, and the posts between them.
///
/// A pure value, without sockets and clocks. Its owner passes it each message that arrives on a connection. While a connection
/// has room, the owner calls ``next(for:)`` and sends the messages that the calls return, in the same order.
struct Hub: Hashable, Sendable {
    typealias ConnectionID = UInt64

    /// The limits of a hub's memory.
    struct Limits: Hashable, Sendable {
        /// The maximum number of posts to keep.
        ///
        /// Observers that connect again, or that ask for earlier posts, get the posts that are kept.
        var ringPosts = 32_768
        var ringBytes = 33_554_432
        /// The maximum number of posts that may wait for one connection.
        var queuedPosts = 4_096
        var queuedBytes = 1_048_576
        /// The maximum number of events, posts included, that may wait for one connection before the connection is closed.
        var queuedEvents = 65_536
        /// The maximum number of topics for which the hub records the posts that one connection has missed.
        ///
        /// If a connection has missed posts of more topics, the hub later checks all topics that the connection subscribes to.
        var missedTopics = 1_024
        /// The size in bytes at which a batch is complete.
        ///
        /// A post that would exceed this size goes into the next batch, unless it is the first item of a batch.
        var batchBytes = 60_000
        var subscriptions = 16_384
        var topics = 65_536
        /// The maximum number of ended posters that the hub remembers.
        var tombstones = 4_096
        /// The maximum number of topics that the hub remembers for all ended posters together.
        var tombstoneTopics = 65_536
    }

    /// A message to a connection.
    enum Output: Hashable, Sendable {
        case acknowledged(accepted: UInt64, settled: UInt64)
        case batch(EngineBatch)
    }

    /// A cache that contains, for each topic with recent posts, the connections that get them.
    struct Routes: Hashable, Sendable {
        /// The maximum number of topics in the cache; a full cache is emptied before another topic is added.
        static let most = 1_024
        var known: [Topic: [ConnectionID]] = [:]

        // Two hubs that differ only in their caches are equal.
        static func == (left: Routes, right: Routes) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// The record of a poster that has ended.
    struct Tombstone: Hashable, Sendable {
        let end: PosterEnd
        let marks: [Topic: HubPoster.Mark]
        /// The position of the hub's newest post at the moment when the poster ended.
        let position: UInt64
    }

    let epoch: Epoch
    let limits: Limits
    /// The posts that are kept, in order of their positions.
    var ring = Deque<Post>()
    /// The position of the oldest kept post.
    var ringStart: UInt64 = 1
    var ringBytes = 0
    var posters: [PosterID: HubPoster] = [:]
    var connections: [ConnectionID: HubConnection] = [:]
    /// The number of subscriptions to a name, by name and then by connection.
    var byName: [String: [ConnectionID: Int]] = [:]
    /// The number of subscriptions to all names, by connection.
    var byEveryName: [ConnectionID: Int] = [:]
    var tombstones: [PosterID: Tombstone] = [:]
    var tombstoneOrder = Deque<PosterID>()
    var tombstoneTopics = 0
    /// The highest ``Tombstone/position`` of all forgotten tombstones; nil if none was forgotten.
    private var forgotten: UInt64?
    /// The same as ``forgotten``, but only for posters whose last posts may never have reached the hub.
    private var forgottenTail: UInt64?
    /// A cache of the connections that get the posts of a topic; it is cleared when a subscription is added or removed.
    var routes = Routes()
    /// The connections for which ``acknowledgeLater(at:)`` has delayed an acknowledgement.
    private var patient: [ConnectionID] = []
    /// The connections for which messages may be waiting, each once, in the order in which they are served.
    var ready: [ConnectionID] = []

    /// The connections whose queues hold more events than the limit.
    private var overrun: [ConnectionID] = []

    init(_ epoch: Epoch, _ limits: Limits = Limits()) {
        self.epoch = epoch
        self.limits = limits
    }

    /// The position of the newest post.
    var newest: UInt64 { ringStart + UInt64(ring.count) - 1 }

    /// Returns the number of posts that are still to be sent to a connection, and the number of sent posts that the
    /// connection has not confirmed.
    func backlog(of connection: ConnectionID) -> (queued: Int, unconfirmed: Int) {
        guard let state = connections[connection] else { return (0, 0) }
        return (state.queuedPosts, state.unconfirmed.count)
    }

    /// Removes and returns the connections whose queues hold more events than the limit.
    ///
    /// Such a connection has read nothing for too long, and its queue has no room even for events that are not posts. The owner
    /// closes these connections. When a center connects again, the center asks for the posts that it has missed.
    mutating func takeOverrun() -> [ConnectionID] {
        defer { overrun = [] }
        return overrun
    }

    /// Removes and returns the connections for which messages may be waiting.
    mutating func takeReady() -> [ConnectionID] {
        let taken = ready
        for id in taken { connections[id]?.isReady = false }
        ready = []
        return taken
    }

    mutating func markReady(_ id: ConnectionID) {
        if let link = connections.index(forKey: id) { markReady(at: link) }
    }

    mutating func markReady(at link: Link) {
        let most = limits.queuedEvents
        let (isOverrun, wasReady) = at(link) { connection in
            defer { connection.isReady = true }
            return (connection.queue.count > most, connection.isReady)
        }
        let id = connections.keys[link]
        if isOverrun, !overrun.contains(id) { overrun.append(id) }
        if !wasReady { ready.append(id) }
    }

    /// The index of a connection in ``connections``, valid until a connection is added or removed.
    typealias Link = Dictionary<ConnectionID, HubConnection>.Index

    /// Reads or changes a connection in place; the dictionary's subscript would copy the connection.
    mutating func at<Result>(_ link: Link, _ body: (inout HubConnection) -> Result) -> Result {
        body(&connections.values[link])
    }

    // MARK: - Connections

    /// Adds a connection and its poster.
    ///
    /// - Returns: The older connection of the same poster, which the owner closes; nil if there is none.
    mutating func open(_ id: ConnectionID, poster: PosterID) -> ConnectionID? {
        let older = posters[poster]?.connection
        if let older { close(older) }
        connections[id] = HubConnection(poster: poster)
        if posters[poster] == nil {
            posters[poster] = HubPoster()
            // The hub has treated the poster as ended, but it has connected again.
            if let tombstone = removeTombstone(of: poster) {
                posters[poster]?.skip(to: tombstone.end.accepted)
                posters[poster]?.marks = tombstone.marks
                posters[poster]?.isOpen = true
            }
        }
        posters[poster]?.connection = id
        return older
    }

    /// Removes a connection that has ended; its poster can connect again.
    mutating func close(_ id: ConnectionID) {
        guard let state = connections.removeValue(forKey: id) else { return }
        for subscription in state.subscriptions.values where !subscription.isReplaying {
            removeFromIndex(subscription.request, id)
        }
        if posters[state.poster]?.connection == id { posters[state.poster]?.connection = nil }
        // No poster waits for the connection any longer: when the center connects again, it asks for the posts that it has not
        // confirmed.
        if !state.isBehind { settleAll(of: state) }
    }

    /// Removes a poster that has ended; `last` is the number of its last post, or nil if the number is unknown.
    mutating func end(_ poster: PosterID, last: UInt64?) {
        guard let state = posters.removeValue(forKey: poster) else { return }
        if let connection = state.connection { connections[connection]?.hasEnded = true }
        let end = PosterEnd(
            poster: poster, accepted: state.accepted, last: last.map { max($0, state.accepted) })
        tombstones[poster] = Tombstone(end: end, marks: state.marks, position: newest)
        tombstoneOrder.append(poster)
        tombstoneTopics += state.marks.count
        while tombstoneOrder.count > limits.tombstones || tombstoneTopics > limits.tombstoneTopics,
            let oldest = tombstoneOrder.first
        { forgetTombstone(of: oldest) }
        broadcast(.ended(end))
    }

    private mutating func forgetTombstone(of poster: PosterID) {
        guard let removed = removeTombstone(of: poster) else { return }
        forgotten = max(forgotten ?? 0, removed.position)
        if removed.end.last != removed.end.accepted {
            forgottenTail = max(forgottenTail ?? 0, removed.position)
        }
        for (id, connection) in connections where connection.isMissingMore {
            connections[id]?.hasForgotten = true
        }
    }

    /// Returns true if a subscription may have missed posts of a poster that the hub has forgotten.
    func hasForgotten(_ subscription: HubConnection.Subscribed) -> Bool {
        guard case .after(let position, let known) = subscription.request.start else { return false }
        let place = known == epoch ? position.low : 0
        return subscription.isTrimmed && forgotten.map { $0 > place } ?? false
            || forgottenTail.map { $0 >= place } ?? false
    }

    private mutating func removeTombstone(of poster: PosterID) -> Tombstone? {
        guard let removed = tombstones.removeValue(forKey: poster) else { return nil }
        tombstoneOrder.removeAll { $0 == poster }
        tombstoneTopics -= removed.marks.count
        return removed
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

    private mutating func settleAll(of state: HubConnection) {
        for item in state.queue { if case .post(let post, _) = item { settle(post.poster, post.number) } }
        for waiting in state.unconfirmed { settle(waiting.poster, waiting.number) }
    }

    /// Marks a connection as behind, so that posters no longer wait for its confirmations.
    mutating func fallBehind(_ id: ConnectionID) {
        guard let link = connections.index(forKey: id), !at(link, { $0.isBehind }) else { return }
        at(link) { $0.isBehind = true }
        settleAll(of: connections.values[link])
    }

    /// Marks slow connections as behind, so that posters no longer wait for them.
    ///
    /// A connection is slow if it has posts to confirm, but has confirmed none since the last call of this method.
    ///
    /// - Returns: True if posters were waiting for a connection when this call began. The owner then calls this again later.
    mutating func checkConfirmations() -> Bool {
        let awaited = connections.filter { $0.value.holdsPosts && !$0.value.isBehind }
        for (id, connection) in awaited {
            if connection.hasConfirmed { connections[id]?.hasConfirmed = false } else { fallBehind(id) }
        }
        return !awaited.isEmpty
    }

    /// True if acknowledgements are delayed until other connections confirm the posts.
    var hasPatient: Bool { !patient.isEmpty }

    /// Delays the acknowledgement of a post until other connections have confirmed the post.
    ///
    /// Usually they confirm it soon. Then one message acknowledges both that the post is accepted and that it is settled. The
    /// owner calls ``acknowledgePatient()`` soon, so that the post is acknowledged even if they do not confirm it.
    ///
    /// - Parameter link: The connection that has sent the post.
    mutating func acknowledgeLater(at link: Link) {
        let wasPatient = at(link) { connection in
            defer { connection.isPatient = true }
            return connection.isPatient
        }
        if !wasPatient { patient.append(connections.keys[link]) }
    }

    /// Ends the delay of all acknowledgements: ``next(for:)`` then returns them even if the posts are not confirmed.
    mutating func acknowledgePatient() {
        for id in patient {
            if let link = connections.index(forKey: id), at(link, { $0.isPatient }) { acknowledge(at: link) }
        }
        patient = []
    }

    mutating func acknowledge(_ poster: PosterID) {
        guard let connection = posters[poster]?.connection, let link = connections.index(forKey: connection)
        else { return }
        acknowledge(at: link)
    }

    mutating func acknowledge(at link: Link) {
        at(link) { ($0.isPatient, $0.owesAcknowledgement) = (false, true) }
        markReady(at: link)
    }
}

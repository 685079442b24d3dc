extension Hub {
    // MARK: - From posters

    /// Handles an announcement of a poster, or one part of a long announcement.
    ///
    /// `isLast` is false if further parts of the same announcement follow.
    mutating func announce(_ announcement: Announcement, isLast: Bool = true, from id: ConnectionID)
        throws(WireViolation)
    {
        for horizon in announcement.horizons { try apply(horizon, from: id) }
        try announced(
            upTo: announcement.number, isOpening: announcement.isOpening, isLast: isLast, from: id)
    }

    /// Handles the end of an announcement, or of one part of it, after its horizons.
    mutating func announced(
        upTo number: UInt64, isOpening: Bool, isLast: Bool, from id: ConnectionID
    ) throws(WireViolation) {
        let (link, place) = try poster(of: id)
        if isOpening && !isLast { return }
        posters.values[place].skip(to: number)
        if !isOpening { return }
        let name = posters.keys[place]
        posters.values[place].isOpen = true
        at(link) { $0.posting = .open }
        index.add(name)
        broadcast(.present(name))
        acknowledge(at: link)
    }

    /// Handles one horizon of an announcement.
    ///
    /// - Returns: The number of connections that are told.
    @discardableResult
    mutating func apply(_ horizon: Horizon, from id: ConnectionID) throws(WireViolation) -> Int {
        let (_, place) = try poster(of: id)
        if horizon.poster != posters.keys[place] { throw WireViolation("a horizon of another poster") }
        let (nodes, _) = try note(horizon.topic, horizon.number, horizonTime: horizon.time, at: place)
        let (live, replaying) = (index.live(nodes), index.replaying(nodes))
        for id in live {
            if let link = connections.index(forKey: id) { queue(.horizon(horizon), at: link) }
        }
        let mark = Baseline.Mark(
            poster: horizon.poster, topic: horizon.topic, number: 0, base: horizon.number,
            baseTime: horizon.time)
        for id in replaying {
            guard let link = connections.index(forKey: id) else { continue }
            // Of the subscriptions of a connection, one at a time gets earlier posts.
            guard case .subscription(let number)? = connections.values[link].starts.first,
                let request = connections.values[link].subscriptions[number]?.request,
                request.matches(horizon.topic)
            else { continue }
            let explanation = Baseline(
                subscription: number, marks: [mark], position: Position(low: ring.newest), isLast: false)
            queue(.baseline(explanation), at: link)
        }
        return live.count + replaying.count
    }

    /// Accepts a post, and queues it for the connections that subscribe to its topic.
    ///
    /// - Returns: The number of connections that get it.
    @discardableResult
    mutating func publish(_ post: Post, from id: ConnectionID) throws(WireViolation) -> Int {
        let (link, place) = try poster(of: id)
        if post.poster != posters.keys[place] || !posters.values[place].isOpen {
            throw WireViolation("a post of another poster, or before the opening horizons")
        }
        guard post.previous < post.number else { throw WireViolation("a post that follows itself") }
        // A post whose number is not new was accepted before, and is sent again.
        if post.number <= posters.values[place].accepted {
            acknowledge(at: link)
            return 0
        }
        let (nodes, before) = try note(post.topic, post.number, at: place)
        keep(post, nodes)
        let receivers = index.live(nodes)
        var waiting = 0
        for other in receivers where enqueue(post, before: before, for: other) { waiting += 1 }
        posters.values[place].accept(post.number, waiting: waiting, most: limits.ringPosts)
        if waiting == 0 { acknowledge(at: link) } else { acknowledgeLater(at: link) }
        return receivers.count
    }

    private typealias PosterPlace = Dictionary<PosterID, HubPoster>.Index

    private func poster(of id: ConnectionID) throws(WireViolation) -> (Link, PosterPlace) {
        guard let link = connections.index(forKey: id), connections.values[link].posting != .ended,
            let place = posters.index(forKey: connections.values[link].poster)
        else { throw WireViolation("a message of a poster that has ended") }
        return (link, place)
    }

    /// Records the number of a post or of a ``Horizon`` that has arrived for a topic.
    ///
    /// `horizonTime` is the time of the horizon, and nil for a post.
    ///
    /// - Returns: The nodes of the topic, and the number that the topic had before.
    private mutating func note(
        _ topic: Topic, _ number: UInt64, horizonTime: Int64? = nil, at place: PosterPlace
    ) throws(WireViolation) -> (HubIndex.Places, before: UInt64) {
        let known = posters.values[place].marks.change(topic) { mark in
            defer { mark.raise(to: number, horizonTime: horizonTime) }
            return (mark.place.nodes, before: mark.last)
        }
        if let known { return known }
        if posters.values[place].marks.count >= limits.topics { throw WireViolation("too many topics") }
        let cost = HubPoster.Mark.cost(of: topic)
        guard shares.charge(posters.values[place].share, cost) else {
            throw WireViolation("the process uses too much of the hub's memory")
        }
        let (nodes, serial) = index.add(HubIndex.MarkKey(poster: posters.keys[place], topic: topic))
        var mark = HubPoster.Mark(place: HubPoster.Place(nodes: nodes, serial: serial))
        mark.raise(to: number, horizonTime: horizonTime)
        posters.values[place].marks[topic] = mark
        posters.values[place].bytes += cost
        return (nodes, 0)
    }

    private mutating func keep(_ post: Post, _ nodes: HubIndex.Places) {
        ring.append(post, nodes)
        index.keep(ring.newest, nodes)
        while let dropped = ring.dropOldest(limits) { index.dropOldest(dropped) }
    }

    /// Adds a post to the queue of a connection, or records that the queue has no room for it.
    ///
    /// - Returns: True if the poster waits for the connection to confirm it.
    private mutating func enqueue(_ post: Post, before: UInt64, for id: ConnectionID) -> Bool {
        guard let link = connections.index(forKey: id) else { return false }
        let limits = limits
        let share = connections.values[link].share
        let hasRoom = at(link) { $0.queue.hasRoom(for: post, limits) }
        if !hasRoom || !shares.charge(share, post.cost) {
            at(link) { $0.losses.add(post, most: limits.missedTopics) }
            markReady(at: link)
            fallBehind(at: link)
            return false
        }
        // A loss in the topic is reported before the next post of the topic.
        if let lost = at(link, { $0.losses.take(before: post) }) { queue(.horizon(lost), at: link) }
        let position = Position(low: ring.newest)
        let waits = at(link) { connection in
            connection.queue.append(post, position, before: before)
            return connection.pace != .behind
        }
        markReady(at: link)
        return waits
    }
}

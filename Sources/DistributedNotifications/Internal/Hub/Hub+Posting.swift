internal import DequeModule

extension Hub {
    // MARK: - From posters

    /// Handles an announcement of a poster, or one part of a long announcement.
    ///
    /// `isLast` is false if further parts of the same announcement follow.
    mutating func announce(_ announcement: Announcement, isLast: Bool = true, from id: ConnectionID)
        throws(WireViolation)
    {
        guard let connection = connections[id], posters[connection.poster] != nil, !connection.hasEnded else {
            throw WireViolation("horizons of a poster that has ended")
        }
        let name = connection.poster
        guard announcement.horizons.allSatisfy({ $0.poster == name }) else {
            throw WireViolation("a horizon of another poster")
        }
        if !announcement.isOpening {
            for horizon in announcement.horizons { try apply(horizon) }
            posters[name]?.skip(to: announcement.number)
            return
        }
        if connection.opening.count + announcement.horizons.count > 2 * limits.topics {
            throw WireViolation("too many topics")
        }
        connections[id]?.opening += announcement.horizons
        guard isLast else { return }
        let opening = connections[id]?.opening ?? []
        connections[id]?.opening = []
        posters[name]?.isOpen = true
        for horizon in opening { try apply(horizon) }
        posters[name]?.skip(to: announcement.number)
        broadcast(.present(name))
        acknowledge(name)
    }

    /// Queues an event for every connection that has a subscription.
    mutating func broadcast(_ item: EngineBatch.Item) {
        for id in connections.keys.sorted() where connections[id]?.subscriptions.isEmpty == false {
            connections[id]?.queue.append(.item(item))
            markReady(id)
        }
    }

    private mutating func apply(_ horizon: Horizon) throws(WireViolation) {
        guard let place = posters.index(forKey: horizon.poster) else { return }
        if !posters.values[place].note(
            horizon.topic, horizon.number, horizonTime: horizon.time, most: limits.topics)
        {
            throw WireViolation("too many topics")
        }
        for id in matching(horizon.topic) {
            connections[id]?.queue.append(.item(.horizon(horizon)))
            markReady(id)
        }
        let mark = Baseline.Mark(
            poster: horizon.poster, topic: horizon.topic, number: 0, base: horizon.number,
            baseTime: horizon.time)
        for id in connections.keys.sorted() where connections[id]?.replays.isEmpty == false {
            for subscribed in connections[id]?.subscriptions.values.map({ $0 }) ?? []
            where subscribed.isReplaying && subscribed.request.matches(horizon.topic) {
                explain([mark], to: subscribed.request, id)
            }
        }
    }

    /// Accepts a post, and queues it for the connections that subscribe to its topic.
    mutating func publish(_ post: Post, from id: ConnectionID) throws(WireViolation) {
        guard let link = connections.index(forKey: id), let place = posters.index(forKey: post.poster),
            at(link, { $0.poster == post.poster && !$0.hasEnded }), posters.values[place].isOpen
        else { throw WireViolation("a post of another poster, or before the opening horizons") }
        guard post.previous < post.number else { throw WireViolation("a post that follows itself") }
        // A post whose number is not new was accepted before, and is sent again.
        if post.number <= posters.values[place].accepted { return acknowledge(at: link) }
        if !posters.values[place].note(post.topic, post.number, most: limits.topics) {
            throw WireViolation("too many topics")
        }
        keep(post)
        var waiting = 0
        for other in matching(post.topic) where enqueue(post, for: other) { waiting += 1 }
        posters.values[place].accept(post.number, waiting: waiting, most: limits.ringPosts)
        if waiting == 0 { acknowledge(at: link) } else { acknowledgeLater(at: link) }
    }

    private mutating func keep(_ post: Post) {
        ring.append(post)
        ringBytes += post.cost
        while ring.count > limits.ringPosts || ringBytes > limits.ringBytes, let oldest = ring.first {
            ringBytes -= oldest.cost
            ring.removeFirst()
            ringStart += 1
        }
    }

    /// Adds a post to the queue of a connection, or records that the queue has no room for it.
    ///
    /// - Returns: True if the poster waits for the connection to confirm it.
    private mutating func enqueue(_ post: Post, for id: ConnectionID) -> Bool {
        guard let link = connections.index(forKey: id) else { return false }
        let (position, limits) = (Position(low: newest), limits)
        let waits = at(link) { $0.enqueue(post, position, limits) }
        markReady(at: link)
        if !waits { fallBehind(id) }
        return waits
    }

    /// Returns the connections that get new posts of a topic, in a stable order.
    ///
    /// Subscriptions to which the hub still sends earlier posts do not count: they get the new posts after the earlier ones.
    private mutating func matching(_ topic: Topic) -> [ConnectionID] {
        if let known = routes.known[topic] { return known }
        let ids = Set((byName[topic.name] ?? [:]).keys).union(byEveryName.keys)
        let found = ids.filter { id in
            connections[id]?.subscriptions.values.contains { !$0.isReplaying && $0.request.matches(topic) }
                ?? false
        }
        if routes.known.count >= Routes.most { routes.known = [:] }
        routes.known[topic] = found.sorted()
        return routes.known[topic] ?? []
    }
}

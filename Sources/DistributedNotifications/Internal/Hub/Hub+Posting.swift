internal import DequeModule

extension Hub {
    // MARK: - From posters

    /// Handles an announcement of a poster, or a part of one; only the last part has `isLast`.
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
            for horizon in announcement.horizons { try apply(horizon, isFirst: false) }
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
        let isFirst = posters[name]?.isOpen == false
        posters[name]?.isOpen = true
        for horizon in opening { try apply(horizon, isFirst: isFirst) }
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

    private mutating func apply(_ horizon: Horizon, isFirst: Bool) throws(WireViolation) {
        try note(horizon.topic, horizon.number, of: horizon.poster, isBase: horizon.isBase && isFirst)
        let told = Horizon(
            poster: horizon.poster, topic: horizon.topic, number: horizon.number,
            isBase: horizon.isBase && isFirst, reason: horizon.reason)
        for id in matching(horizon.topic) {
            connections[id]?.queue.append(.item(.horizon(told)))
            markReady(id)
        }
    }

    /// Records the newest number of a topic.
    private mutating func note(
        _ topic: Topic, _ number: UInt64, of poster: PosterID, isBase: Bool
    ) throws(WireViolation) {
        guard let index = posters.index(forKey: poster) else { return }
        if posters.values[index].marks[topic] == nil && posters.values[index].marks.count >= limits.topics {
            throw WireViolation("too many topics")
        }
        posters.values[index].marks[topic, default: .init()].raise(to: number, isBase: isBase)
    }

    /// Accepts a post, and queues it for the connections that subscribe to its topic.
    mutating func publish(_ post: Post, from id: ConnectionID) throws(WireViolation) {
        guard connections[id]?.poster == post.poster, connections[id]?.hasEnded == false,
            posters[post.poster]?.isOpen == true, let accepted = posters[post.poster]?.accepted
        else { throw WireViolation("a post of another poster, or before the opening horizons") }
        guard post.previous < post.number else { throw WireViolation("a post that follows itself") }
        // If the poster sends a post again, the post may have been accepted before.
        if post.number <= accepted { return acknowledge(post.poster) }
        try note(post.topic, post.number, of: post.poster, isBase: false)
        keep(post)
        var waiting = 0
        for other in matching(post.topic) where enqueue(post, for: other) { waiting += 1 }
        posters[post.poster]?.accept(post.number, waiting: waiting, most: limits.ringPosts)
        acknowledge(post.poster)
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

    /// Adds a post to the queue of a connection, or notes that there is no room.
    ///
    /// - Returns: True if the poster waits for the connection to confirm it.
    private mutating func enqueue(_ post: Post, for id: ConnectionID) -> Bool {
        markReady(id)
        guard let index = connections.index(forKey: id) else { return false }
        let key = HubConnection.MissedTopic(poster: post.poster, topic: post.topic)
        if connections.values[index].isFull(for: post, limits) {
            connections.values[index].miss(key, post.number, most: limits.missedTopics)
            fallBehind(id)
            return false
        }
        // A loss in the topic is reported before the next post of the topic.
        if let number = connections.values[index].missed.removeValue(forKey: key) {
            connections.values[index].queue.append(.item(.horizon(loss(key, number))))
        }
        connections.values[index].append(post, Position(low: newest))
        return !connections.values[index].isBehind
    }

    func loss(_ key: HubConnection.MissedTopic, _ number: UInt64) -> Horizon {
        Horizon(poster: key.poster, topic: key.topic, number: number, isBase: false, reason: .processBehind)
    }

    /// Returns the connections with a subscription that includes a topic and is not being replayed, in a stable order.
    private func matching(_ topic: Topic) -> [ConnectionID] {
        let named = byName[topic.name] ?? [:]
        var found = byEveryName.isEmpty ? Array(named.keys) : Array(Set(named.keys).union(byEveryName.keys))
        found.removeAll { id in
            guard let index = connections.index(forKey: id) else { return true }
            return !connections.values[index].subscriptions.values.contains {
                !$0.isReplaying && $0.request.matches(topic)
            }
        }
        return found.sorted()
    }
}

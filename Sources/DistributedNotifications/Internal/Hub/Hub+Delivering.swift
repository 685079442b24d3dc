internal import DequeModule

extension Hub {
    // MARK: - From observers

    /// Adds a subscription that a connection asks for.
    mutating func subscribe(_ request: Subscription, from id: ConnectionID) throws(WireViolation) {
        guard let subscriptions = connections[id]?.subscriptions else { return }
        if subscriptions[request.number] != nil {
            throw WireViolation("a subscription's number is used twice")
        }
        if subscriptions.count >= limits.subscriptions { throw WireViolation("too many subscriptions") }
        var first = newest + 1
        var since: Int64?
        switch request.start {
        case .now: break
        case .last(let count): first = start(ofLast: count, request)
        case .since(let time):
            first = ringStart
            since = time
        case .after(let position, let known):
            // The first post after the position may no longer be kept. In that case the replay notes that posts are missing.
            first = known == epoch ? min(position.low.addingReportingOverflow(1).partialValue, first) : 1
        }
        // The first subscription tells the connection of the posters so far. Broadcasts tell it of posters that open later.
        if subscriptions.isEmpty {
            for name in posters.keys.sorted(by: <) where posters[name]?.isOpen == true {
                connections[id]?.queue.append(.item(.present(name)))
            }
            for name in tombstoneOrder {
                guard let end = tombstones[name]?.end, end.last != end.accepted else { continue }
                connections[id]?.queue.append(.item(.ended(end)))
            }
        }
        let isReplaying = first <= newest
        connections[id]?.subscriptions[request.number] = .init(request: request, isReplaying: isReplaying)
        if isReplaying {
            explain(marks([request]), to: request, id)
            connections[id]?.replays.append(.init(subscription: request.number, next: first, since: since))
        } else {
            begin(request, id)
        }
        markReady(id)
    }

    /// Queues the ``Baseline`` of a subscription, and begins to deliver every matching post that the hub accepts from now on.
    private mutating func begin(_ request: Subscription, _ id: ConnectionID) {
        connections[id]?.subscriptions[request.number]?.isReplaying = false
        addToIndex(request, id)
        let hasForgotten =
            connections[id]?.subscriptions[request.number].map { self.hasForgotten($0) } ?? false
        for part in baselines(of: request, marks([request]), hasForgotten: hasForgotten) {
            connections[id]?.queue.append(.item(.baseline(part)))
        }
    }

    /// Queues the newest ``Horizon`` of each topic for a subscription whose earlier posts are still being sent.
    ///
    /// A horizon stands for posts that are not sent. If a horizon is older than the subscription, these posts do not count as lost.
    /// The baselines contain the horizons, but not the numbers of the newest posts, because the newest posts are still to be sent.
    mutating func explain(_ marks: [Baseline.Mark], to request: Subscription, _ id: ConnectionID) {
        let bases = marks.filter { $0.base > 0 }.map { mark in
            Baseline.Mark(
                poster: mark.poster, topic: mark.topic, number: 0, base: mark.base, baseTime: mark.baseTime)
        }
        if bases.isEmpty { return }
        for part in baselines(of: request, bases, endsWithLast: false) {
            connections[id]?.queue.append(.item(.baseline(part)))
        }
    }

    private func start(ofLast count: Int, _ request: Subscription) -> UInt64 {
        var left = max(count, 0)
        var index = ring.count
        while index > 0 && left > 0 {
            index -= 1
            if request.matches(ring[index].topic) { left -= 1 }
        }
        return ringStart + UInt64(index)
    }

    /// Removes a subscription of a connection.
    mutating func unsubscribe(_ number: UInt64, from id: ConnectionID) {
        guard let removed = connections[id]?.subscriptions.removeValue(forKey: number) else { return }
        if removed.isReplaying {
            connections[id]?.replays.removeAll { $0.subscription == number }
        } else {
            removeFromIndex(removed.request, id)
        }
    }

    /// Tells a connection which of the given posters have ended, and which have not.
    ///
    /// For a poster that the hub does not know, the connection gets no answer. If that poster opens later, the hub notifies every
    /// connection that has a subscription.
    mutating func locate(_ names: [PosterID], from id: ConnectionID) {
        for name in names {
            if let end = tombstones[name]?.end {
                connections[id]?.queue.append(.item(.ended(end)))
            } else if posters[name]?.isOpen == true {
                connections[id]?.queue.append(.item(.present(name)))
            }
        }
        markReady(id)
    }

    /// Handles the confirmation of a batch, which also confirms all earlier batches.
    mutating func confirm(_ batch: UInt64, credits: Int, from id: ConnectionID) throws(WireViolation) {
        guard let link = connections.index(forKey: id) else { return }
        let most = limits.queuedPosts
        let (isSent, isBehind) = at(link) { connection in
            connection.credits = min(max(credits, 1), most)
            return (batch <= connection.lastBatch, connection.isBehind)
        }
        if !isSent { throw WireViolation("a batch is confirmed that was not sent") }
        var known: (name: PosterID, place: Dictionary<PosterID, HubPoster>.Index)?
        while let confirmed = at(link, { $0.takeConfirmed(upTo: batch) }) {
            if isBehind { continue }
            // Successive posts are usually of the same poster, so its index is looked up only when the poster changes.
            if known?.name != confirmed.poster {
                known = posters.index(forKey: confirmed.poster).map { (confirmed.poster, $0) }
            }
            if let known, posters.values[known.place].settle(confirmed.number) { acknowledge(known.name) }
        }
        at(link) { if !$0.holdsPosts && !$0.misses { $0.isBehind = false } }
        markReady(at: link)
    }

    // MARK: - To connections

    /// Removes and returns the next message for a connection; nil if there is none that may be sent now.
    ///
    /// A post may be sent only while ``HubConnection/hasCredits`` is true.
    mutating func next(for id: ConnectionID) -> Output? {
        guard let link = connections.index(forKey: id) else { return nil }
        let (name, owes, number) = at(link) { connection in
            defer { connection.owesAcknowledgement = false }
            return (connection.poster, connection.owesAcknowledgement, connection.lastBatch + 1)
        }
        if owes, let poster = posters[name] {
            return .acknowledged(accepted: poster.accepted, settled: poster.settled)
        }
        let items = takeItems(for: id, at: link, batch: number)
        if items.isEmpty { return nil }
        at(link) { $0.lastBatch = number }
        return .batch(EngineBatch(number: number, items: items))
    }

    private mutating func takeItems(
        for id: ConnectionID, at link: Link, batch: UInt64
    ) -> [EngineBatch.Item] {
        var items: [EngineBatch.Item] = []
        var bytes = 0
        while bytes < limits.batchBytes {
            let room = items.isEmpty ? Int.max : limits.batchBytes - bytes
            var next: EngineBatch.Item?
            switch at(link, { $0.takeNext(for: batch, fits: room) }) {
            case .nothing: return items
            case .missed:
                tellMissed(id)
                continue
            case .item(let item): next = item
            case .replay: next = replay(for: id, batch: batch, fits: room)
            }
            guard let next else { return items }
            items.append(next)
            bytes += next.cost
        }
        return items
    }

    /// Queues a ``Horizon`` for each topic with posts that were left out because the connection's queue was full.
    private mutating func tellMissed(_ id: ConnectionID) {
        guard let state = connections[id] else { return }
        connections[id]?.missed = [:]
        connections[id]?.isMissingMore = false
        connections[id]?.hasForgotten = false
        var horizons = state.missed.map { $0.key.loss($0.value) }
        if state.isMissingMore {
            let wanted = state.subscriptions.values.filter { !$0.isReplaying }.map(\.request)
            horizons = marks(wanted).compactMap { mark in
                mark.topic.map { HubConnection.MissedTopic(poster: mark.poster, topic: $0).loss(mark.number) }
            }
        }
        for horizon in horizons.sorted(by: { $0.number < $1.number }) {
            connections[id]?.queue.append(.item(.horizon(horizon)))
        }
        if !state.hasForgotten { return }
        // Some lost posts may be of posters that the hub has forgotten, so it reports that posts of any poster may be missing.
        for subscribed in state.subscriptions.values where !subscribed.isReplaying {
            for part in baselines(of: subscribed.request, [], hasForgotten: true) {
                connections[id]?.queue.append(.item(.baseline(part)))
            }
        }
    }

    /// Returns the next post of the connection's first ``HubConnection/Replay``, or a baseline if that replay has no post left.
    ///
    /// Returns nil if there is no replay, or if the `cost` of the post is more than `room` bytes.
    private mutating func replay(
        for id: ConnectionID, batch: UInt64, fits room: Int
    ) -> EngineBatch.Item? {
        guard var replay = connections[id]?.replays.first,
            let request = connections[id]?.subscriptions[replay.subscription]?.request
        else { return nil }
        if replay.next < ringStart {
            replay.next = ringStart
            connections[id]?.subscriptions[request.number]?.isTrimmed = true
        }
        while replay.next <= newest {
            let post = ring[Int(replay.next - ringStart)]
            if request.matches(post.topic) && post.date >= replay.since ?? .min {
                if post.cost > room { return nil }
                let position = Position(low: replay.next)
                replay.next += 1
                connections[id]?.replays[0] = replay
                // A replayed post uses a credit, but no poster waits for its confirmation, so it is recorded with the number 0.
                connections[id]?.unconfirmed.append(.init(batch: batch, poster: post.poster, number: 0))
                return .post(.init(post: post, position: position, subscription: request.number))
            }
            replay.next += 1
        }
        connections[id]?.replays.removeFirst()
        // The connection's queue is empty here, so nothing comes between the replayed posts and the baseline.
        begin(request, id)
        return connections[id]?.takeFirst(for: batch, fits: .max)
    }

    /// Returns the baseline of a subscription, in parts that each fit into one message.
    private func baselines(
        of request: Subscription, _ marks: [Baseline.Mark], endsWithLast: Bool = true,
        hasForgotten: Bool = false
    ) -> [Baseline] {
        let parts = marks.parts(of: 64)
        return parts.enumerated().map { index, part in
            let isLast = endsWithLast && index == parts.count - 1
            return Baseline(
                subscription: request.number, marks: Array(part), position: Position(low: newest),
                isLast: isLast, hasForgotten: isLast && hasForgotten)
        }
    }

    /// Returns a mark for each topic of each poster, if at least one of the subscriptions wants the topic.
    ///
    /// The `number` of a mark is the number of the newest post or of the newest horizon, whichever is higher.
    private func marks(_ wanted: [Subscription]) -> [Baseline.Mark] {
        var found: [Baseline.Mark] = []
        func add(_ name: PosterID, _ marks: [Topic: HubPoster.Mark]) {
            for (topic, mark) in marks where wanted.contains(where: { $0.matches(topic) }) {
                found.append(
                    .init(
                        poster: name, topic: topic, number: mark.last, base: mark.base,
                        baseTime: mark.baseTime))
            }
        }
        for (name, poster) in posters { add(name, poster.marks) }
        for (name, tombstone) in tombstones { add(name, tombstone.marks) }
        return found
    }

    // MARK: - The index

    private mutating func addToIndex(_ request: Subscription, _ id: ConnectionID) {
        routes = Routes()
        if let name = request.name {
            byName[name, default: [:]][id, default: 0] += 1
        } else {
            byEveryName[id, default: 0] += 1
        }
    }

    mutating func removeFromIndex(_ request: Subscription, _ id: ConnectionID) {
        routes = Routes()
        if let name = request.name {
            byName[name]?[id, default: 0] -= 1
            if byName[name]?[id] == 0 { byName[name]?[id] = nil }
            if byName[name]?.isEmpty == true { byName[name] = nil }
        } else {
            byEveryName[id, default: 0] -= 1
            if byEveryName[id] == 0 { byEveryName[id] = nil }
        }
    }
}

extension Hub {
    // MARK: - From observers

    /// Adds a subscription that a connection asks for.
    ///
    /// - Returns: The number of marks that the connection is told at once.
    @discardableResult
    mutating func subscribe(_ request: Subscription, from id: ConnectionID) throws(WireViolation) -> Int {
        guard let link = connections.index(forKey: id) else { return 0 }
        let count = connections.values[link].subscriptions.count
        if connections.values[link].subscriptions[request.number] != nil {
            throw WireViolation("a subscription's number is used twice")
        }
        if count >= limits.subscriptions { throw WireViolation("too many subscriptions") }
        guard shares.charge(connections.values[link].share, HubConnection.Subscribed.cost(of: request)) else {
            throw WireViolation("the process uses too much of the hub's memory")
        }
        index.addListener(id)
        let replay = replay(request)
        let isTrimmed = replay.next < ring.start
        at(link) {
            $0.subscriptions[request.number] = .init(
                request: request, phase: .waiting(replay), isTrimmed: isTrimmed)
        }
        // The first subscription tells the connection of the posters so far. Broadcasts tell it of posters that open later.
        if count == 0 { tellPosters(at: link) }
        // What takes more than one part waits until the connection has taken everything before it.
        var markCount = 0
        if nextPost(of: replay, request) == nil, canBegin(request, at: link) {
            markCount = index.markCount(.init(request))
            begin(request, at: link)
        } else {
            let most = 2 * connections.values[link].subscriptions.count + 64
            at(link) { connection in
                connection.starts.append(.subscription(request.number))
                if connection.starts.count > most { connection.dropIdleStarts() }
            }
        }
        markReady(at: link)
        return markCount
    }

    /// Returns the earlier posts that a subscription asks for.
    private func replay(_ request: Subscription) -> HubConnection.Replay {
        switch request.start {
        case .now: return .init(next: ring.newest + 1)
        case .last(let count):
            return .init(next: start(ofLast: max(count, 0), .init(request)) ?? ring.newest + 1)
        case .since(let time): return .init(next: ring.start, since: time)
        case .after(let position, let known):
            // The first post after the position may no longer be kept. In that case the replay notes that posts are missing.
            let next = position.low.addingReportingOverflow(1).partialValue
            return .init(next: known == epoch ? min(next, ring.newest + 1) : 1)
        }
    }

    private func start(ofLast count: Int, _ pattern: HubIndex.Pattern) -> UInt64? {
        if pattern != .everything { return index.kept(pattern, last: count) }
        return ring.newest + 1 - UInt64(min(count, Int(ring.newest + 1 - ring.start)))
    }

    /// Returns the position of the next post that a subscription asks for, whatever its date.
    func nextPost(of replay: HubConnection.Replay, _ request: Subscription) -> UInt64? {
        let pattern = HubIndex.Pattern(request)
        let next = max(replay.next, ring.start)
        if pattern != .everything { return index.kept(pattern, from: next) }
        return next <= ring.newest ? next : nil
    }

    /// Tells a connection of the posters so far.
    private mutating func tellPosters(at link: Link) {
        let survey = HubSurvey(.posters, end: index.lastSerial, position: Position(low: ring.newest))
        at(link) { connection in
            if connection.queue.survey == nil {
                connection.queue.append(survey)
            } else {
                connection.starts.append(.posters)
            }
        }
        // Each of them is a gap for an observer that comes back.
        if tombstones.lossy.count > limits.endReports { return queue(.ended(.unknown), at: link) }
        for name in tombstones.lossy.sorted() {
            if let end = tombstones[name]?.end { queue(.ended(end), at: link) }
        }
    }

    /// Returns true if the newest numbers for a subscription fit into one part, and the connection has room for it.
    private func canBegin(_ request: Subscription, at link: Link) -> Bool {
        connections.values[link].queue.bytes < limits.queuedBytes
            && index.markCount(.init(request)) <= HubSurvey.marksAtOnce
    }

    /// Queues the ``Baseline`` of a subscription, and begins to deliver every matching post that the hub accepts from now on.
    ///
    /// If the baseline has several parts, the connection's queue has no other survey.
    mutating func begin(_ request: Subscription, at link: Link) {
        let (id, pattern) = (connections.keys[link], HubIndex.Pattern(request))
        let wasReplaying = at(link) { connection in
            guard let phase = connection.subscriptions[request.number]?.phase else { return false }
            connection.subscriptions[request.number]?.phase = .live
            if case .replaying = phase { return true }
            return false
        }
        if wasReplaying { index.remove(pattern, id, isReplaying: true) }
        index.add(pattern, id, isReplaying: false)
        let survey = HubSurvey(
            .marks(request.number), end: index.lastSerial, position: Position(low: ring.newest))
        if index.markCount(pattern) > HubSurvey.marksAtOnce { return at(link) { $0.queue.append(survey) } }
        let part = marks(of: pattern, survey, atMost: HubSurvey.marksAtOnce)
        queue(.baseline(baseline(request, part.marks, survey, isLast: true, at: link)), at: link)
    }

    /// Removes a subscription of a connection.
    mutating func unsubscribe(_ number: UInt64, from id: ConnectionID) {
        guard let link = connections.index(forKey: id),
            let removed = at(link, { $0.subscriptions.removeValue(forKey: number) })
        else { return }
        release(removed, of: id, connections.values[link].share)
    }

    /// Tells a connection if a poster has ended.
    ///
    /// For a poster that the hub does not know, the connection gets no answer. If that poster opens later, the hub notifies every
    /// connection that has a subscription.
    mutating func locate(_ name: PosterID, from id: ConnectionID) {
        guard let link = connections.index(forKey: id) else { return }
        if let end = tombstones[name]?.end {
            queue(.ended(end), at: link)
        } else if posters[name]?.isOpen == true {
            queue(.present(name), at: link)
        }
    }

    /// Handles the confirmation of a batch, which also confirms all earlier batches.
    mutating func confirm(_ batch: UInt64, credits: Int, from id: ConnectionID) throws(WireViolation) {
        guard let link = connections.index(forKey: id) else { return }
        let most = limits.unconfirmedPosts
        let (isSent, isBehind) = at(link) { connection in
            connection.credits = min(max(credits, 1), most)
            return (batch <= connection.lastBatch, connection.pace == .behind)
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
        at(link) { $0.catchUp() }
        markReady(at: link)
    }
}

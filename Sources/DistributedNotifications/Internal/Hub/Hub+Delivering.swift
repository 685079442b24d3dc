internal import DequeModule

extension Hub {
    // MARK: - To connections

    /// Removes and returns the next message for a connection; nil if there is none that may be sent now.
    ///
    /// A post may be sent only while ``HubConnection/hasCredits`` is true. If there is more to do than one call should do, the
    /// connection is ready again.
    mutating func next(for id: ConnectionID) -> Output? {
        var steps = limits.batchSteps
        return next(for: id, steps: &steps)
    }

    /// The same, within a number of steps.
    ///
    /// - Parameters:
    ///   - id: The connection.
    ///   - steps: The number of steps that the call may take; the call subtracts those that it has taken. If none is left, the
    ///     connection may have more to do, even if the result is nil.
    /// - Returns: The message; nil if there is none.
    mutating func next(for id: ConnectionID, steps: inout Int) -> Output? {
        guard let link = connections.index(forKey: id) else { return nil }
        let (name, acknowledgement, number) = at(link) { connection in
            (connection.poster, connection.acknowledgement, connection.lastBatch + 1)
        }
        switch acknowledgement {
        case .owed:
            at(link) { $0.acknowledgement = .none }
            if let poster = posters[name] {
                return .acknowledged(accepted: poster.accepted, settled: poster.settled)
            }
        case .none, .delayed: break
        }
        let items = takeItems(at: link, batch: number, &steps)
        if items.isEmpty { return nil }
        at(link) { $0.lastBatch = number }
        return .batch(EngineBatch(number: number, items: items))
    }

    private mutating func takeItems(at link: Link, batch: UInt64, _ steps: inout Int) -> [EngineBatch.Item] {
        var items: [EngineBatch.Item] = []
        var bytes = 0
        while bytes < limits.batchBytes {
            if steps <= 0 {
                markReady(at: link)
                break
            }
            steps -= 1
            let room = items.isEmpty ? Int.max : limits.batchBytes - bytes
            let count = items.count
            switch at(link, { $0.takeNext(for: batch, fits: room) }) {
            case .nothing: return items
            case .losses: tellLosses(at: link)
            case .item(let item):
                shares.discharge(connections.values[link].share, item.cost)
                items.append(item)
            case .survey(let survey):
                steps -= HubSurvey.marksOfPart * HubSurvey.stepsOfMark - 1
                items += takePart(of: survey, at: link)
            case .start(let start):
                switch proceed(start, at: link, batch: batch, fits: room) {
                case .sent(let item): items.append(item)
                case .done: break
                case .blocked: return items
                }
            }
            for item in items[count...] { bytes += item.cost }
        }
        return items
    }

    /// Queues a ``Horizon`` for each topic with posts that were left out because the connection's queue was full.
    private mutating func tellLosses(at link: Link) {
        let (horizons, others) = at(link) { $0.losses.takeAll() }
        for horizon in horizons { queue(.horizon(horizon), at: link) }
        switch others {
        case .none: return
        // Some lost posts may be of posters that the hub has forgotten, so it reports that posts of any poster may be missing.
        case .posters: queue(.ended(.unknown), at: link)
        case .topics: break
        }
        let survey = HubSurvey(.losses, end: index.lastSerial, position: Position(low: ring.newest))
        at(link) { $0.queue.append(survey) }
    }

    // MARK: - Subscriptions that begin

    private enum Progress {
        /// A post that a subscription asked for.
        case sent(EngineBatch.Item)
        /// A step is complete; there may be others.
        case done
        /// The connection has no credits, or the post does not fit into the batch.
        case blocked
    }

    /// Goes on with the first of the connection's ``HubConnection/starts``; its queue is empty.
    private mutating func proceed(
        _ start: HubConnection.Start, at link: Link, batch: UInt64, fits room: Int
    ) -> Progress {
        switch start {
        case .posters:
            let survey = HubSurvey(.posters, end: index.lastSerial, position: Position(low: ring.newest))
            at(link) { connection in
                connection.starts.removeFirst()
                connection.queue.append(survey)
            }
            return .done
        case .subscription(let number):
            guard let subscribed = connections.values[link].subscriptions[number] else { break }
            switch subscribed.phase {
            case .live: break
            case .waiting(let replay):
                if nextPost(of: replay, subscribed.request) != nil {
                    beginReplay(replay, subscribed.request, at: link)
                    return .done
                }
                begin(subscribed.request, at: link)
            case .replaying(let replay):
                return self.replay(replay, subscribed.request, at: link, batch: batch, fits: room)
            }
        }
        at(link) { _ = $0.starts.removeFirst() }
        return .done
    }

    private mutating func beginReplay(_ replay: HubConnection.Replay, _ request: Subscription, at link: Link)
    {
        let pattern = HubIndex.Pattern(request)
        at(link) { $0.subscriptions[request.number]?.phase = .replaying(replay) }
        index.add(pattern, connections.keys[link], isReplaying: true)
        // A horizon stands for posts that are not sent. If a horizon is older than the subscription, these posts do not count as
        // lost. The baselines at the beginning contain the horizons, but not the numbers of the newest posts, because the newest
        // posts are still to be sent.
        let survey = HubSurvey(
            .bases(request.number), end: index.lastSerial, position: Position(low: ring.newest))
        at(link) { $0.queue.append(survey) }
    }

    /// Returns the next post of a subscription's ``HubConnection/Replay``, or begins the subscription if no post is left.
    private mutating func replay(
        _ replay: HubConnection.Replay, _ request: Subscription, at link: Link, batch: UInt64,
        fits room: Int
    ) -> Progress {
        if !connections.values[link].hasCredits { return .blocked }
        if replay.next < ring.start {
            at(link) { $0.subscriptions[request.number]?.isTrimmed = true }
        }
        guard let position = nextPost(of: replay, request) else {
            at(link) { _ = $0.starts.removeFirst() }
            // The connection's queue is empty here, so nothing comes between the earlier posts and the baseline.
            begin(request, at: link)
            return .done
        }
        let post = ring[position]
        let isWanted = post.date >= replay.since ?? .min
        if isWanted && post.cost > room { return .blocked }
        var rest = replay
        rest.next = position + 1
        at(link) { connection in
            connection.subscriptions[request.number]?.phase = .replaying(rest)
            // An earlier post uses a credit, but no poster waits for its confirmation, so it is recorded with the number 0.
            if isWanted {
                connection.unconfirmed.append(.init(batch: batch, poster: post.poster, number: 0))
            }
        }
        if !isWanted { return .done }
        return .sent(
            .post(.init(post: post, position: Position(low: position), subscription: request.number)))
    }

    // MARK: - Surveys

    /// Removes and returns the next part of the survey at the front of a connection's queue.
    private mutating func takePart(of survey: HubSurvey, at link: Link) -> [EngineBatch.Item] {
        var rest = survey
        var items: [EngineBatch.Item] = []
        switch survey.purpose {
        case .posters:
            while items.count < HubSurvey.marksOfPart,
                let (serial, poster) = index.posters.next(after: rest.last),
                serial <= rest.end
            {
                items.append(.present(poster))
                rest.last = serial
            }
        case .losses:
            let part = marks(of: .everything, survey)
            rest.last = part.last
            for mark in part.marks where mark.number > 0 && isLive(mark, connections.keys[link]) {
                guard let topic = mark.topic else { continue }
                items.append(
                    .horizon(HubLosses.report(.init(poster: mark.poster, topic: topic), mark.number)))
            }
        case .bases(let number):
            guard let request = connections.values[link].subscriptions[number]?.request else { break }
            let part = marks(of: .init(request), survey)
            rest.last = part.last
            let bases = part.marks.filter { $0.base > 0 }.map { mark in
                Baseline.Mark(
                    poster: mark.poster, topic: mark.topic, number: 0, base: mark.base,
                    baseTime: mark.baseTime)
            }
            if !bases.isEmpty {
                items.append(.baseline(baseline(request, bases, survey, isLast: false, at: link)))
            }
        case .marks(let number):
            guard let request = connections.values[link].subscriptions[number]?.request else { break }
            let part = marks(of: .init(request), survey)
            rest.last = part.last
            items.append(.baseline(baseline(request, part.marks, survey, isLast: part.isEmpty, at: link)))
        }
        let isComplete = rest.last == survey.last
        at(link) { $0.queue.replaceSurvey(isComplete ? nil : rest) }
        return items
    }

    private func isLive(_ mark: Baseline.Mark, _ id: ConnectionID) -> Bool {
        guard let topic = mark.topic,
            let place = (posters[mark.poster] ?? tombstones[mark.poster]?.poster)?.marks[topic]?.place
        else { return false }
        return index.isLive(id, place.nodes)
    }

    /// A mark for each of the next topics of a survey.
    ///
    /// The `number` of a mark is the number of the newest post or of the newest horizon, whichever is higher.
    func marks(
        of pattern: HubIndex.Pattern, _ survey: HubSurvey, atMost most: Int = HubSurvey.marksOfPart
    ) -> (marks: [Baseline.Mark], last: UInt64, isEmpty: Bool) {
        let found = index.marks(pattern, after: survey.last, upTo: survey.end, atMost: most)
        var marks: [Baseline.Mark] = []
        for (_, key) in found {
            // A poster that the hub is about to forget has no marks any more.
            guard let mark = (posters[key.poster] ?? tombstones[key.poster]?.poster)?.marks[key.topic] else {
                continue
            }
            let number = survey.number(of: key, now: mark.last)
            if number == 0 { continue }
            marks.append(
                .init(
                    poster: key.poster, topic: key.topic, number: number, base: mark.base,
                    baseTime: mark.baseTime))
        }
        return (marks, found.last?.serial ?? survey.last, found.isEmpty)
    }

    func baseline(
        _ request: Subscription, _ marks: [Baseline.Mark], _ survey: HubSurvey, isLast: Bool, at link: Link
    ) -> Baseline {
        let isTrimmed = connections.values[link].subscriptions[request.number]?.isTrimmed ?? false
        let hasForgotten =
            isLast && tombstones.hasForgotten(since: request.start, isTrimmed: isTrimmed, in: epoch)
        return Baseline(
            subscription: request.number, marks: marks, position: survey.position, isLast: isLast,
            hasForgotten: hasForgotten)
    }
}

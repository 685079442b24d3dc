internal import DistributedNotifications
internal import RunLoops

// The stream is scanned over the first socket for subscriptions that begin or return, and then read live over the second.
//
// The live reader delivers nothing during a scan, and continues at its own place afterwards. If it delivers entries again to a
// subscription that has just caught up, the center recognizes them by their numbers.

extension RedisSession {
    func subscribe(_ subscriptions: [Subscription]) {
        var groups: [Subscription.Start: [Subscription]] = [:]
        var live: [Subscription] = []
        for subscription in subscriptions {
            wanted[subscription.number] = subscription
            if engine.memory.live.contains(subscription.number) && !hasCursor {
                // It has every entry up to the cursor, even if its own last post is much older.
                live.append(subscription)
            } else {
                groups[subscription.start, default: []].append(subscription)
            }
        }
        let begun = engine.memory.begun
        if !live.isEmpty { scans.append(StreamScan(live, begun: begun, after: engine.memory.cursor)) }
        for (start, group) in groups {
            switch start {
            case .now: scans.append(StreamScan(group, begun: begun, after: nil))
            case .since(let date): scans.append(StreamScan(group, begun: begun, after: .zero, since: date))
            case .last(let count): scans.append(StreamScan(group, begun: begun, after: .zero, newest: count))
            case .after(let position, let epoch):
                // The place has no meaning after a restart of the server, or in another generation.
                let isSure = epoch == self.epoch && !engine.hasNewRun
                scans.append(StreamScan(group, begun: begun, after: isSure ? position : .zero))
            }
        }
        goOn()
    }

    func unsubscribe(_ numbers: [UInt64]) { for number in numbers { wanted[number] = nil } }

    /// Reports posters as known, because the store survives the connections of all.
    func locate(_ posters: [PosterID]) {
        let session = LoopBound(self)
        engine.loop.performInEveryMode { session.value?.deliver(posters.map { .present($0) }) }
    }

    func confirm(credits: Int) {
        self.credits = credits
        goOn()
    }

    /// Starts the next scan, or the live reader.
    private func goOn() {
        if isScanning || isDelivering { return }
        while !scans.isEmpty {
            scans[0].keep { wanted[$0.number] != nil }
            if !scans[0].subscriptions.isEmpty { break }
            scans.removeFirst()
        }
        guard let scan = scans.first else { return readLive() }
        if credits <= 0 { return }
        isScanning = true
        evaluate(Scripts.scan, [stream, posters], RedisWords(scan.cursor?.text ?? ""), on: commands) {
            [weak self] reply in
            self?.isScanning = false
            self?.scanned(reply)
        }
    }

    private func scanned(_ reply: RedisReply) {
        guard let parts = expect(reply, "the script that reads the stream").elements, parts.count >= 2,
            let entries = StreamEntry.entries(parts[0]), let first = parts[1].string.flatMap({ EntryID($0) })
        else { return unexpected("the script that reads the stream") }
        var items = scans[0].take(entries, first: first)
        // At the end of the stream the reply has two more parts.
        if parts.count == 4 {
            guard let last = parts[2].string.flatMap({ EntryID($0) }),
                let known = RedisSession.known(parts[3])
            else { return unexpected("the script that reads the stream") }
            items += scans[0].finish(known, at: last)
            if !hasCursor {
                hasCursor = true
                engine.memory.cursor = last
            }
            let numbers = scans.removeFirst().subscriptions.map(\.number)
            engine.memory.begun.formUnion(numbers)
            engine.memory.live.formUnion(numbers)
        }
        deliver(items)
        goOn()
    }

    /// The last numbers of the posters, as the server keeps them.
    private static func known(_ reply: RedisReply) -> [(poster: PosterID, number: UInt64)]? {
        guard let elements = reply.elements else { return nil }
        return stride(from: 0, to: elements.count - 1, by: 2).compactMap { index in
            guard let poster = elements[index].string.flatMap({ PosterID($0) }),
                let number = elements[index + 1].number
            else { return nil }
            return (poster, number)
        }
    }

    // MARK: - Live

    /// Asks the server to wait for the next entries, unless it already does.
    ///
    /// Both commands are written at once, so the server runs them together. The first shows whether entries after the cursor
    /// were removed before they were read; a read alone would return the rest without an error.
    private func readLive() {
        guard !isReading, hasCursor, credits > 0, !wanted.isEmpty else { return }
        isReading = true
        let cursor = engine.memory.cursor
        var first: EntryID?
        evaluate(Scripts.first, [stream], RedisWords(), on: reader) { [weak self] reply in
            guard let self else { return }
            if reply == .null { return fail("the stream was deleted") }
            first = expect(reply, "the script that finds the first entry").string.flatMap { EntryID($0) }
            if first == nil { unexpected("the script that finds the first entry") }
        }
        reader?.send(
            RedisWords("XREAD", "COUNT", "512", "BLOCK", "0", "STREAMS", stream, cursor.text)
        ) { [weak self] reply in
            guard let self, let first else { return }
            isReading = false
            // A scan is running, after which the same entries are read again.
            if isScanning || !scans.isEmpty { return }
            if first > cursor {
                // All subscriptions begin again here, with gaps for the entries that may be missing.
                hasCursor = false
                scans.append(
                    StreamScan(
                        wanted.values.sorted { $0.number < $1.number }, begun: engine.memory.begun,
                        after: cursor,
                        isTrimmed: true))
                return goOn()
            }
            guard let streams = expect(reply, "XREAD").elements, let found = streams.first?.elements,
                found.count == 2,
                let entries = StreamEntry.entries(found[1]), let last = entries.last
            else { return unexpected("XREAD") }
            engine.memory.cursor = last.id
            deliver(entries.flatMap { RedisSession.items($0) })
            goOn()
        }
    }

    private static func items(_ entry: StreamEntry) -> [EngineBatch.Item] {
        switch entry.content {
        case .posts(let posts): posts.map { .post(.init(post: $0, position: entry.id)) }
        case .horizons(let horizons): horizons.map { .horizon($0) }
        case .end(let end): [.ended(end)]
        case .beginning, .unknown: []
        }
    }

    private func deliver(_ items: [EngineBatch.Item]) {
        if items.isEmpty { return }
        lastBatch += 1
        credits -= items.count
        // The center confirms during the call, and no command is sent before the state is consistent.
        isDelivering = true
        engine.sink?.deliver(EngineBatch(number: lastBatch, items: items))
        isDelivering = false
    }
}

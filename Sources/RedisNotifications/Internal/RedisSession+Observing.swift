internal import DistributedNotifications
internal import RunLoops

// A subscription first gets the entries that are in the stream already. A scan reads them over the first socket, when the
// subscription begins and again on each new connection. After the scan, the live reader reads new entries over the second socket.
//
// The live reader delivers nothing during a scan, and continues at its own position afterwards. If the live reader then delivers
// entries that a scan has already delivered, the center recognizes them by their numbers.

extension RedisSession {
    func subscribe(_ subscriptions: [Subscription]) {
        var groups: [Subscription.Start: [Subscription]] = [:]
        var live: [Subscription] = []
        for subscription in subscriptions {
            wanted[subscription.number] = subscription
            if engine.memory.live.contains(subscription.number) && !hasCursor {
                // Every entry up to the cursor was delivered to this subscription, even if the last post that matched the
                // subscription is much older.
                live.append(subscription)
            } else {
                groups[subscription.start, default: []].append(subscription)
            }
        }
        let memory = engine.memory
        if !live.isEmpty { scans.append(StreamScan(live, from: .after(memory.cursor), memory)) }
        for (start, group) in groups {
            switch start {
            case .now: scans.append(StreamScan(group, from: .end, memory))
            case .since(let date): scans.append(StreamScan(group, from: .first, memory, since: date))
            case .last(let count): scans.append(StreamScan(group, from: .first, memory, newest: count))
            case .after(_, let epoch) where epoch != self.epoch:
                scans.append(StreamScan(group, from: .otherGeneration, memory))
            case .after(let position, _):
                let unsure = group.filter { memory.unsure.contains($0.number) }
                let sure = group.filter { !memory.unsure.contains($0.number) }
                if !unsure.isEmpty { scans.append(StreamScan(unsure, from: .again(position), memory)) }
                if !sure.isEmpty { scans.append(StreamScan(sure, from: .after(position), memory)) }
            }
        }
        goOn()
    }

    func unsubscribe(_ numbers: [UInt64]) { for number in numbers { wanted[number] = nil } }

    /// Asks the server for the given posters, and reports to the center those that exist and have not ended.
    func locate(_ asked: [PosterID]) {
        if asked.isEmpty { return }
        var words = RedisWords("HMGET", posters)
        for poster in asked { words.append(poster.text.utf8) }
        commands?.send(words) { [weak self] reply in
            guard let self else { return }
            guard let numbers = expect(reply, "HMGET").elements, numbers.count == asked.count else {
                return unexpected("HMGET")
            }
            deliver(zip(asked, numbers).filter { $0.1 != .null }.map { .present($0.0) })
        }
    }

    func confirm(credits: Int) {
        self.credits = credits
        goOn()
    }

    /// Starts the next scan or, if no scan waits, waits for new entries with `readLive()`.
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
        evaluate(Scripts.scan, [stream, posters, ends], RedisWords(scan.cursor?.text ?? ""), on: commands) {
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
        noteEnds(entries)
        let numbers = scans[0].subscriptions.map(\.number)
        if scans[0].isTrimmed { engine.memory.miss(numbers) }
        // At the end of the stream the reply has three more parts.
        if parts.count == 5 {
            guard let last = parts[2].string.flatMap({ EntryID($0) }),
                let store = StreamScan.Store(posters: parts[3], ends: parts[4])
            else { return unexpected("the script that reads the stream") }
            items += scans.removeFirst().finish(store, at: last)
            if !hasCursor {
                hasCursor = true
                engine.memory.cursor = last
            }
            for (end, id) in store.ended { engine.memory.note(endOf: end.poster, at: id) }
            engine.memory.finish(numbers)
            engine.memory.prune(before: first)
        }
        deliver(items)
        goOn()
    }

    private func noteEnds(_ entries: [StreamEntry]) {
        for entry in entries {
            if case .end(let end) = entry.content { engine.memory.note(endOf: end.poster, at: entry.id) }
        }
    }

    // MARK: - Live

    /// Asks the server to wait for the next entries, unless the server already waits for them.
    ///
    /// This writes two commands together, so the server runs one directly after the other. The first command is a script that shows
    /// whether entries after the cursor were removed before they were read. The second command reads the entries. The second
    /// command alone is not enough: if entries were removed, it returns the remaining entries without an error.
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
            // If a scan is running or waiting, this reply is ignored, because the same entries are read again after the scan.
            if isScanning || !scans.isEmpty { return }
            if first > cursor {
                // All subscriptions are scanned again from the cursor, with gaps for the entries that can be missing.
                hasCursor = false
                let all = wanted.values.sorted { $0.number < $1.number }
                scans.append(StreamScan(all, from: .after(cursor), engine.memory))
                return goOn()
            }
            guard let streams = expect(reply, "XREAD").elements, let found = streams.first?.elements,
                found.count == 2,
                let entries = StreamEntry.entries(found[1]), let last = entries.last
            else { return unexpected("XREAD") }
            engine.memory.cursor = last.id
            noteEnds(entries)
            deliver(entries.flatMap { RedisSession.items($0) })
            goOn()
        }
    }

    private static func items(_ entry: StreamEntry) -> [EngineBatch.Item] {
        switch entry.content {
        case .posts(let posts): posts.map { .post(.init(post: $0, position: entry.id)) }
        case .horizons(let horizons, _, _): horizons.map { .horizon($0) }
        case .end(let end): [.ended(end)]
        case .beginning, .unknown: []
        }
    }

    private func deliver(_ items: [EngineBatch.Item]) {
        if items.isEmpty { return }
        lastBatch += 1
        credits -= items.count
        // The center calls `confirm` during this call. The flag keeps `confirm` from sending a command before the state is
        // consistent.
        isDelivering = true
        engine.sink?.deliver(EngineBatch(number: lastBatch, items: items))
        isDelivering = false
    }
}

extension StreamScan.Store {
    /// Reads the state of the store from two parts of a reply; nil if they do not have the expected form.
    ///
    /// - Parameters:
    ///   - posters: The fields and values of the hash that contains the posters' last numbers.
    ///   - ends: The list of ended posters. Each element consists of the poster, the poster's newest number in the stream, the
    ///     poster's last number, and the ID of the entry that records the end.
    init?(posters: RedisReply, ends: RedisReply) {
        guard let fields = posters.elements, let lines = ends.elements else { return nil }
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            let name = fields[index].string ?? ""
            if name == "forgotten" {
                forgotten = fields[index + 1].string.flatMap { EntryID($0) }
            } else if let poster = PosterID(name), let number = fields[index + 1].number {
                living.append((poster, number))
            }
        }
        for line in lines {
            let words = (line.string ?? "").split(separator: " ").map(String.init)
            guard words.count == 4, let poster = PosterID(words[0]), let accepted = UInt64(words[1]),
                let last = UInt64(words[2]), let id = EntryID(words[3])
            else { return nil }
            ended.append((PosterEnd(poster: poster, accepted: accepted, last: last), id))
        }
    }
}

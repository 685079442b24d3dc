internal import DistributedNotifications
internal import RunLoops

/// The part of a session that reads the stream for the center's subscriptions.
///
/// A subscription first gets the entries that are in the stream already. A scan reads them over the first socket, when the
/// subscription begins and again on each new connection. After the scan, the live reader reads new entries over the second socket.
///
/// The live reader delivers nothing during a scan, and continues at its own position afterwards. If the live reader then delivers
/// entries that a scan has already delivered, the center recognizes them by their numbers.
///
/// A reply is handled in small steps: the connection makes some of them in each pass of the loop.
///
/// > Thread safety: the thread of the center's loop.
final class RedisObserving {
    private enum Activity {
        /// The next scan can start, or the live reader.
        case idle
        /// The script that reads the stream was sent, or its reply is being handled.
        case scanning
        /// The entries that the live reader has read are being delivered.
        case delivering
    }

    private let session: RedisSession
    /// The subscriptions of the center, keyed by their numbers.
    private var wanted: [UInt64: Subscription] = [:]
    private var scans: [StreamScan] = []
    private var activity = Activity.idle
    /// True while the second socket waits for entries, whatever the activity.
    private var isWaiting = false
    /// True if the live reader can continue at ``ReadingMemory/cursor``; false if a scan must set the cursor first.
    private var hasCursor = false
    private var lastBatch: UInt64 = 0
    private var credits = 0

    init(_ session: RedisSession) { self.session = session }

    private var engine: RedisEngine { session.engine }

    // MARK: - From the center

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
            case .after(_, let epoch) where epoch != session.epoch:
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
        var words = RedisWords("HMGET", session.posters)
        for poster in asked { words.append(poster.text.utf8) }
        session.commands?.send(words) { [weak self] reply in
            guard let self else { return }
            guard var numbers = session.expect(reply, "HMGET")?.elements, numbers.left == asked.count else {
                return session.unexpected("HMGET")
            }
            var rest = asked[...]
            session.commands?.handle { [weak self] in
                guard let self else { return false }
                var items: [EngineBatch.Item] = []
                while items.count < RedisObserving.mostItems, let number = numbers.next(),
                    let poster = rest.popFirst()
                {
                    if !number.isNull { items.append(.present(poster)) }
                }
                deliver(items)
                return numbers.left > 0
            }
        }
    }

    func confirm(credits: Int) {
        self.credits = credits
        goOn()
    }

    // MARK: - Scans

    /// The maximum number of items, or of posters, that one step handles.
    private static let mostItems = 64

    /// Starts the next scan or, if no scan waits, waits for new entries with `readLive()`.
    ///
    /// Nothing starts before the reply of the last command is handled to its end.
    private func goOn() {
        guard case .idle = activity else { return }
        while !scans.isEmpty {
            scans[0].keep { wanted[$0.number] != nil }
            if !scans[0].subscriptions.isEmpty { break }
            scans.removeFirst()
        }
        guard let scan = scans.first else { return readLive() }
        if credits <= 0 { return }
        activity = .scanning
        session.evaluate(
            Scripts.scan, [session.stream, session.posters, session.ends],
            RedisWords(scan.cursor?.text ?? ""), on: session.commands
        ) { [weak self] reply in self?.scanned(reply) }
    }

    private func scanned(_ reply: RedisValue) {
        let command = "the script that reads the stream"
        guard var parts = session.expect(reply, command)?.elements, parts.left == 2 || parts.left == 5,
            let entries = parts.next()?.elements, let first = parts.next()?.word.flatMap({ EntryID($0) })
        else { return session.unexpected(command) }
        var end: (EntryID, StoreReader)?
        // At the end of the stream the reply has three more parts.
        if parts.left == 3 {
            guard let last = parts.next()?.word.flatMap({ EntryID($0) }),
                let posters = parts.next()?.elements,
                let ends = parts.next()?.elements
            else { return session.unexpected(command) }
            end = (last, StoreReader(posters: posters, ends: ends))
        }
        var rest = ScanReply(entries, first: first, end: end, &scans[0], &engine.memory)
        session.commands?.handle { [weak self] in
            guard let self else { return false }
            switch rest.step(&scans[0], &engine.memory) {
            case .items(let items):
                deliver(items)
                return true
            case .invalid:
                session.unexpected(command)
                return false
            case .end(let position):
                if let position {
                    scans.removeFirst()
                    if !hasCursor {
                        hasCursor = true
                        engine.memory.cursor = position
                    }
                    engine.memory.prune(before: first)
                }
                activity = .idle
                goOn()
                return false
            }
        }
    }

    // MARK: - Live

    /// Asks the server to wait for the next entries, unless the server already waits for them.
    ///
    /// This writes two commands together, so the server runs one directly after the other. The first command is a script that shows
    /// whether entries after the cursor were removed before they were read. The second command reads the entries. The second
    /// command alone is not enough: if entries were removed, it returns the remaining entries without an error.
    private func readLive() {
        guard !isWaiting, hasCursor, credits > 0, !wanted.isEmpty else { return }
        isWaiting = true
        let cursor = engine.memory.cursor
        var first: EntryID?
        session.evaluate(Scripts.first, [session.stream], RedisWords(), on: session.reader) {
            [weak self] reply in
            guard let self else { return }
            let command = "the script that finds the first entry"
            if reply.isNull { return session.fail("the stream was deleted") }
            first = session.expect(reply, command)?.word.flatMap { EntryID($0) }
            if first == nil { session.unexpected(command) }
        }
        session.reader?.send(
            RedisWords(
                "XREAD", "COUNT", "\(Scripts.mostEntries)", "BLOCK", "0", "STREAMS", session.stream,
                cursor.text)
        ) { [weak self] reply in
            guard let self, let first else { return }
            isWaiting = false
            // If a scan is running or waiting, this reply is ignored, because the same entries are read again after the scan.
            guard case .idle = activity, scans.isEmpty else { return }
            if first > cursor {
                // All subscriptions are scanned again from the cursor, with gaps for the entries that can be missing.
                hasCursor = false
                let all = wanted.values.sorted { $0.number < $1.number }
                scans.append(StreamScan(all, from: .after(cursor), engine.memory))
                return goOn()
            }
            read(reply)
        }
    }

    private func read(_ reply: RedisValue) {
        guard var streams = session.expect(reply, "XREAD")?.elements, var found = streams.next()?.elements,
            found.left == 2, found.next() != nil, let entries = found.next()?.elements, entries.left > 0
        else { return session.unexpected("XREAD") }
        activity = .delivering
        var rest = LiveReply(entries)
        session.reader?.handle { [weak self] in
            guard let self else { return false }
            switch rest.step(&engine.memory) {
            case .items(let items):
                deliver(items)
                return true
            case .invalid:
                session.unexpected("XREAD")
                return false
            case .end:
                activity = .idle
                goOn()
                return false
            }
        }
    }

    private func deliver(_ items: [EngineBatch.Item]) {
        if items.isEmpty { return }
        lastBatch += 1
        credits -= items.count
        // The center calls `confirm` during this call.
        engine.sink?.deliver(EngineBatch(number: lastBatch, items: items))
    }
}

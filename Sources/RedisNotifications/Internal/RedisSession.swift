internal import DistributedNotifications
internal import RunLoops

/// A connection to the server, which lasts until the first fault.
///
/// It has three sockets. The first carries commands. The second waits for entries of the stream. It has also read the key of the
/// generation, which makes the server track changes of that key. The server reports such a change, or the deletion of the key, on
/// the third socket, even while the second socket waits. If one socket ends, all three are closed.
///
/// > Thread safety: the thread of the center's loop.
final class RedisSession {
    unowned let engine: RedisEngine
    private let address: RedisAddress
    private(set) var commands: RedisConnection?
    private(set) var reader: RedisConnection?
    private var watcher: RedisConnection?
    private var alarm: Timer?
    private(set) var epoch: Epoch?
    private var isClosed = false
    private var shas: [String] = []
    private var isWaitedForRoom = false
    /// The posts that the next command will add to the stream.
    private var batch = PostBatch()
    /// The number of posts that the session has taken, but the server has not accepted yet.
    private var pendingPosts = 0
    /// True if the server has accepted posts that were not reported to the engine yet.
    private var hasAccepted = false
    /// The highest number in the posts and announcements that were sent on this connection.
    private var lastSent: UInt64 = 0

    /// The subscriptions of the center, keyed by their numbers.
    var wanted: [UInt64: Subscription] = [:]
    var scans: [StreamScan] = []
    var isScanning = false
    /// True while the second socket waits for entries.
    var isReading = false
    var isDelivering = false
    /// True if the live reader can continue at ``ReadingMemory/cursor``; false if a scan must set the cursor first.
    var hasCursor = false
    var lastBatch: UInt64 = 0
    var credits = 0

    /// The maximum number of posts that wait for the server to accept them, and of bytes in unanswered commands.
    private static let mostPending = (count: 1_024, bytes: 1_048_576)

    init(_ engine: RedisEngine, _ address: RedisAddress) {
        self.engine = engine
        self.address = address
    }

    var options: RedisOptions { engine.options }
    var prefix: String { "dn:{\(options.space)}:" }
    var generationKey: String { prefix + "gen" }
    var stream: String { prefix + "s:" + (epoch?.text ?? "") }
    var posters: String { prefix + "p:" + (epoch?.text ?? "") }
    var ends: String { prefix + "e:" + (epoch?.text ?? "") }

    /// Ends the session, and reports the reason to the engine.
    func fail(_ reason: String) { fail(.engine(reason)) }

    func fail(_ error: DistributedNotificationError) {
        if isClosed { return }
        engine.fail(self, error)
    }

    func close() {
        isClosed = true
        alarm?.invalidate()
        for connection in [commands, reader, watcher] { connection?.close() }
        (commands, reader, watcher) = (nil, nil, nil)
    }

    // MARK: - Beginning

    func start() {
        let alarm = Timer(timeInterval: options.timeout, repeats: false) { [weak self] _ in
            guard let self else { return }
            fail("the server does not answer within \(options.timeout)")
        }
        self.alarm = alarm
        engine.loop.add(alarm, forMode: .common)
        do throws(DistributedNotificationError) {
            commands = try connect()
            reader = try connect()
            watcher = try connect()
        } catch { return fail(error) }
        for connection in [commands, reader, watcher] { authenticate(connection) }
        commands?.beforeWriting = { [weak self] in self?.sendBatch() }
        commands?.afterReplies = { [weak self] in self?.reportPosts() }
        commands?.send(RedisWords("INFO")) { [weak self] reply in self?.check(reply) }
        for script in Scripts.all {
            commands?.send(RedisWords("SCRIPT", "LOAD", script)) { [weak self] reply in
                guard let self, let sha = expect(reply, "SCRIPT LOAD").string else { return }
                shas.append(sha)
                if shas.count == Scripts.all.count { open() }
            }
        }
    }

    private func connect() throws(DistributedNotificationError) -> RedisConnection {
        try RedisConnection(address) { [weak self] error in self?.fail(error) }
    }

    private func authenticate(_ connection: RedisConnection?) {
        if let password = options.password {
            var words = RedisWords("AUTH")
            if let user = options.user { words.append(user.utf8) }
            words.append(password.utf8)
            connection?.send(words) { [weak self] reply in
                _ = self?.expect(reply, "AUTH")
            }
        }
        if options.database != 0 {
            connection?.send(RedisWords("SELECT", "\(options.database)")) { [weak self] reply in
                _ = self?.expect(reply, "SELECT")
            }
        }
    }

    private var info: ServerInfo?

    private func check(_ reply: RedisReply) {
        guard let text = expect(reply, "INFO").string else { return unexpected("INFO") }
        let info = ServerInfo(text)
        if let flaw = info.flaw { return fail(flaw) }
        self.info = info
    }

    private func open() {
        evaluate(Scripts.open, [generationKey], RedisWords(Epoch.random().text, prefix), on: commands) {
            [weak self] reply in
            guard let self else { return }
            guard
                let epoch = expect(reply, "the script that finds the generation").string.flatMap({ Epoch($0) }
                )
            else { return unexpected("the script that finds the generation") }
            self.epoch = epoch
            watch()
        }
    }

    /// Makes the server report changes of the generation's key on the third socket.
    ///
    /// The server tracks the key because the second socket reads it.
    private func watch() {
        watcher?.send(RedisWords("CLIENT", "ID")) { [weak self] reply in
            guard let self else { return }
            guard let id = expect(reply, "CLIENT ID").number else { return unexpected("CLIENT ID") }
            watcher?.send(RedisWords("SUBSCRIBE", "__redis__:invalidate")) { [weak self] reply in
                guard let self, expect(reply, "SUBSCRIBE").elements != nil else { return }
                watcher?.onMessage = { [weak self] _ in
                    self?.fail("the database was emptied, or the key of the generation was changed")
                }
                readGeneration(telling: id)
            }
        }
    }

    private func readGeneration(telling id: UInt64) {
        // With `OPTIN`, the server tracks only the key of the generation, and not the stream, which changes with every post.
        reader?.send(RedisWords("CLIENT", "TRACKING", "ON", "REDIRECT", "\(id)", "OPTIN")) {
            [weak self] reply in
            self?.expect(reply, "CLIENT TRACKING")
        }
        reader?.send(RedisWords("CLIENT", "CACHING", "YES")) { [weak self] reply in
            self?.expect(reply, "CLIENT CACHING")
        }
        reader?.send(RedisWords("GET", generationKey)) { [weak self] reply in
            guard let self, let epoch, let info else { return }
            guard expect(reply, "GET").string == epoch.text else {
                return fail("the key of the generation was changed while the engine connected")
            }
            alarm?.invalidate()
            alarm = nil
            engine.opened(epoch, info)
        }
    }

    // MARK: - Replies

    /// Ends the session if a reply is an error.
    ///
    /// - Returns: The reply.
    @discardableResult
    func expect(_ reply: RedisReply, _ command: String) -> RedisReply {
        if case .error(let text) = reply { fail("\(command) fails: \(text)") }
        return reply
    }

    func unexpected(_ command: String) {
        fail(.protocolViolation("the reply to \(command) is not what Redis replies"))
    }

    /// Runs a script that was loaded into the server.
    func evaluate(
        _ script: String, _ keys: [String], _ arguments: RedisWords, on connection: RedisConnection?,
        _ answer: @escaping RedisConnection.Answer
    ) {
        guard let index = Scripts.all.firstIndex(of: script), index < shas.count else { return }
        var words = RedisWords("EVALSHA", shas[index], "\(keys.count)")
        for key in keys { words.append(key.utf8) }
        words.append(arguments)
        connection?.send(words, answer)
    }

    // MARK: - Posting

    func publish(_ post: Post) -> Handed {
        guard let commands, epoch != nil, !isClosed else { return .away }
        if pendingPosts >= RedisSession.mostPending.count
            || commands.pendingBytes + batch.bytes.count >= RedisSession.mostPending.bytes
        {
            isWaitedForRoom = true
            return .full
        }
        if batch.isFull { sendBatch() }
        batch.append(post)
        pendingPosts += 1
        commands.requestWrite()
        return .taken
    }

    /// Sends the posts that the session has taken since it sent the last batch.
    private func sendBatch() {
        guard let epoch, let first = batch.posts.first?.number, let last = batch.posts.last?.number else {
            return
        }
        let count = batch.posts.count
        let bytes = batch.posts.reduce(0) { $0 + $1.cost }
        var arguments = RedisWords(
            epoch.text, "\(options.streamLength)", engine.poster.text, "\(first)", "\(last)", "\(lastSent)")
        arguments.append(batch.bytes)
        batch = PostBatch()
        lastSent = last
        evaluate(Scripts.post, [generationKey, stream, posters], arguments, on: commands) {
            [weak self] reply in
            guard let self, wasAdded(reply) else { return }
            pendingPosts -= count
            engine.posts.accept(last, posts: count, bytes: bytes, now: .now)
            hasAccepted = true
        }
    }

    /// Returns true if the reply says that the server has the entry that was sent to it; otherwise ends the session.
    private func wasAdded(_ reply: RedisReply) -> Bool {
        switch reply {
        case .integer(1):
            engine.added = epoch
            return true
        case .integer(-1): fail("the stream was deleted, or the database was emptied")
        case .integer(-2): fail("the server has refused a post")
        case .error(let text): fail("the server refuses a post: \(text)")
        case .integer, .null, .text, .array: unexpected("the script that posts")
        }
        return false
    }

    func announce(_ announcement: Announcement) {
        guard let epoch else { return }
        // The posts that were handed over before the horizons must reach the server first.
        sendBatch()
        var arguments = RedisWords(
            epoch.text, "\(options.streamLength)", engine.poster.text, "\(announcement.number)",
            "\(lastSent)",
            engine.added == epoch ? "1" : "0")
        arguments.append(StreamEntry.fields(of: announcement, by: engine.poster))
        lastSent = max(lastSent, announcement.number)
        evaluate(Scripts.announce, [generationKey, stream, posters], arguments, on: commands) {
            [weak self] reply in
            _ = self?.wasAdded(reply)
        }
    }

    private func reportPosts() {
        if hasAccepted {
            hasAccepted = false
            engine.accepted()
        }
        guard isWaitedForRoom, let commands, pendingPosts <= RedisSession.mostPending.count / 2,
            commands.pendingBytes <= RedisSession.mostPending.bytes / 2
        else { return }
        isWaitedForRoom = false
        engine.sink?.room()
    }

    /// Tells the server that the poster has ended, if that is possible without waiting; then closes the session.
    func end(lastNumber: UInt64) {
        if lastNumber > 0, let epoch {
            // The posts that were handed over must reach the server first.
            sendBatch()
            let arguments = RedisWords(
                epoch.text, "\(options.streamLength)", engine.poster.text, "\(lastNumber)",
                "\(Scripts.mostEnds)")
            evaluate(Scripts.end, [generationKey, stream, posters, ends], arguments, on: commands) { _ in }
            commands?.flush()
        }
        close()
    }
}

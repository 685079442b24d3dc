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
    private enum State {
        /// The session greets the server.
        case opening(Opening)
        /// The center uses the session.
        ///
        /// The two parts and the session hold each other until the session is closed.
        case open(Epoch, RedisPosting, RedisObserving)
        case closed
    }

    /// What belongs to a session that is not open yet.
    private struct Opening {
        /// Ends the session if the greeting takes too long; nil before it begins.
        var alarm: Timer?
        var info: ServerInfo?
        var epoch: Epoch?
    }

    unowned let engine: RedisEngine
    private let address: RedisAddress
    private(set) var commands: RedisConnection?
    private(set) var reader: RedisConnection?
    private var watcher: RedisConnection?
    private var state = State.opening(Opening())
    /// The names that the server has given to its scripts, in the order of ``Scripts/all``.
    private var scripts: [String] = []

    init(_ engine: RedisEngine, _ address: RedisAddress) {
        self.engine = engine
        self.address = address
    }

    /// The part that sends posts; nil unless the session is open.
    var posting: RedisPosting? { if case .open(_, let posting, _) = state { posting } else { nil } }

    /// The part that reads the stream; nil unless the session is open.
    var observing: RedisObserving? { if case .open(_, _, let observing) = state { observing } else { nil } }

    /// The generation of the server's data; nil before it is known, and after the end.
    var epoch: Epoch? {
        switch state {
        case .opening(let opening): opening.epoch
        case .open(let epoch, _, _): epoch
        case .closed: nil
        }
    }

    var options: RedisOptions { engine.options }
    private var prefix: String { "dn:{\(options.namespace)}:" }
    var generationKey: String { prefix + "gen" }
    var stream: String { prefix + "s:" + (epoch?.text ?? "") }
    var posters: String { prefix + "p:" + (epoch?.text ?? "") }
    var ends: String { prefix + "e:" + (epoch?.text ?? "") }

    // MARK: - The end

    /// Ends the session, and reports the reason to the engine.
    func fail(_ reason: String) { fail(.engine(reason)) }

    func fail(_ error: DistributedNotificationError) {
        if case .closed = state { return }
        engine.fail(self, error)
    }

    func close() {
        if case .opening(let opening) = state { opening.alarm?.invalidate() }
        state = .closed
        for connection in [commands, reader, watcher] { connection?.close() }
        (commands, reader, watcher) = (nil, nil, nil)
    }

    /// Tells the server that the poster has ended, if that is possible without waiting; then closes the session.
    func end(lastNumber: UInt64) {
        posting?.end(lastNumber: lastNumber)
        close()
    }

    // MARK: - Beginning

    func start() {
        let alarm = Timer(timeInterval: options.connectTimeout, repeats: false) { [weak self] _ in
            guard let self else { return }
            fail("the server does not answer within \(options.connectTimeout)")
        }
        change { $0.alarm = alarm }
        engine.loop.add(alarm, forMode: .common)
        do throws(DistributedNotificationError) {
            commands = try connect()
            reader = try connect()
            watcher = try connect()
        } catch { return fail(error) }
        for connection in [commands, reader, watcher] { authenticate(connection) }
        commands?.send(RedisWords("INFO")) { [weak self] reply in self?.check(reply) }
        for script in Scripts.all {
            commands?.send(RedisWords("SCRIPT", "LOAD", script)) { [weak self] reply in
                guard let self else { return }
                guard let name = expect(reply, "SCRIPT LOAD")?.word else { return unexpected("SCRIPT LOAD") }
                scripts.append(name)
                if scripts.count == Scripts.all.count { findGeneration() }
            }
        }
    }

    private func change(_ body: (inout Opening) -> Void) {
        guard case .opening(var opening) = state else { return }
        body(&opening)
        state = .opening(opening)
    }

    private func connect() throws(DistributedNotificationError) -> RedisConnection {
        try RedisConnection(address) { [weak self] error in self?.fail(error) }
    }

    private func authenticate(_ connection: RedisConnection?) {
        if let password = options.password {
            var words = RedisWords("AUTH")
            if let user = options.user { words.append(user.utf8) }
            words.append(password.utf8)
            connection?.send(words) { [weak self] reply in _ = self?.expect(reply, "AUTH") }
        }
        if options.database != 0 {
            connection?.send(RedisWords("SELECT", "\(options.database)")) { [weak self] reply in
                _ = self?.expect(reply, "SELECT")
            }
        }
    }

    private func check(_ reply: RedisValue) {
        guard let text = expect(reply, "INFO")?.bytes, text.count <= ServerInfo.mostBytes else {
            return unexpected("INFO")
        }
        let info = ServerInfo(text)
        if let flaw = info.flaw { return fail(flaw) }
        change { $0.info = info }
    }

    private func findGeneration() {
        evaluate(Scripts.open, [generationKey], RedisWords(Epoch.random().text, prefix), on: commands) {
            [weak self] reply in
            guard let self else { return }
            let command = "the script that finds the generation"
            guard let epoch = expect(reply, command)?.word.flatMap({ Epoch($0) }) else {
                return unexpected(command)
            }
            change { $0.epoch = epoch }
            watch()
        }
    }

    /// Makes the server report changes of the generation's key on the third socket.
    ///
    /// The server tracks the key because the second socket reads it.
    private func watch() {
        watcher?.send(RedisWords("CLIENT", "ID")) { [weak self] reply in
            guard let self else { return }
            guard let id = expect(reply, "CLIENT ID")?.number else { return unexpected("CLIENT ID") }
            watcher?.send(RedisWords("SUBSCRIBE", "__redis__:invalidate")) { [weak self] reply in
                guard let self else { return }
                guard expect(reply, "SUBSCRIBE")?.elements != nil else { return unexpected("SUBSCRIBE") }
                watcher?.onMessage = { [weak self] _ in
                    self?.fail("the database was emptied, or the key of the generation was changed")
                }
                readGeneration(telling: id)
            }
        }
    }

    private func readGeneration(telling id: OutsideNumber) {
        // With `OPTIN`, the server tracks only the key of the generation, and not the stream, which changes with every post.
        reader?.send(RedisWords("CLIENT", "TRACKING", "ON", "REDIRECT", "\(id.value)", "OPTIN")) {
            [weak self] reply in
            _ = self?.expect(reply, "CLIENT TRACKING")
        }
        reader?.send(RedisWords("CLIENT", "CACHING", "YES")) { [weak self] reply in
            _ = self?.expect(reply, "CLIENT CACHING")
        }
        reader?.send(RedisWords("GET", generationKey)) { [weak self] reply in
            guard let self, case .opening(let opening) = state else { return }
            guard let epoch = opening.epoch, let info = opening.info else { return unexpected("INFO") }
            guard expect(reply, "GET")?.word == epoch.text else {
                return fail("the key of the generation was changed while the engine connected")
            }
            opening.alarm?.invalidate()
            open(epoch, info)
        }
    }

    private func open(_ epoch: Epoch, _ info: ServerInfo) {
        let posting = RedisPosting(self)
        state = .open(epoch, posting, RedisObserving(self))
        commands?.beforeWriting = { [weak posting] in posting?.sendBatch() }
        commands?.afterReplies = { [weak posting] in posting?.report() }
        engine.opened(epoch, info)
    }

    // MARK: - Commands

    /// Ends the session if a reply is an error.
    ///
    /// - Returns: The reply; nil if it is an error.
    func expect(_ reply: RedisValue, _ command: String) -> RedisValue? {
        guard let text = reply.error else { return reply }
        fail("\(command) fails: \(text)")
        return nil
    }

    /// Ends the session because of a reply, unless the session has ended because the reply is an error.
    func unexpected(_ command: String) {
        fail(.protocolViolation("the reply to \(command) is not what Redis replies"))
    }

    /// Runs a script that was loaded into the server.
    func evaluate(
        _ script: String, _ keys: [String], _ arguments: RedisWords, on connection: RedisConnection?,
        _ answer: @escaping RedisConnection.Answer
    ) {
        guard let index = Scripts.all.firstIndex(of: script), index < scripts.count else { return }
        var words = RedisWords("EVALSHA", scripts[index], "\(keys.count)")
        for key in keys { words.append(key.utf8) }
        words.append(arguments)
        connection?.send(words, answer)
    }
}

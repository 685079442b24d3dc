internal import DistributedNotifications
internal import RunLoops

/// The part of a session that sends the center's posts and announcements to the server.
///
/// > Thread safety: the thread of the center's loop.
final class RedisPosting {
    private let session: RedisSession
    private var isWaitedForRoom = false
    /// The posts that the next command will add to the stream.
    private var batch = PostBatch()
    /// The number of posts that the session has taken, but the server has not accepted yet.
    private var pendingPosts = 0
    /// True if the server has accepted posts that were not reported to the engine yet.
    private var hasAccepted = false
    /// The highest number in the posts and announcements that were sent on this connection.
    private var lastSent: UInt64 = 0

    /// The maximum number of posts that wait for the server to accept them, and of bytes in unanswered commands.
    private static let mostPending = (count: 1_024, bytes: 1_048_576)

    init(_ session: RedisSession) { self.session = session }

    private var engine: RedisEngine { session.engine }

    func publish(_ post: Post) -> Handed {
        guard let commands = session.commands else { return .away }
        if pendingPosts >= RedisPosting.mostPending.count
            || commands.pendingBytes + batch.bytes.count >= RedisPosting.mostPending.bytes
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
    func sendBatch() {
        guard let epoch = session.epoch, let first = batch.posts.first?.number,
            let last = batch.posts.last?.number
        else { return }
        let count = batch.posts.count
        let bytes = batch.posts.reduce(0) { $0 + $1.cost }
        var arguments = RedisWords(
            epoch.text, "\(session.options.streamLengthLimit)", engine.poster.text, "\(first)", "\(last)",
            "\(lastSent)")
        arguments.append(batch.bytes)
        batch = PostBatch()
        lastSent = last
        evaluate(Scripts.post, arguments) { [weak self] reply in
            guard let self, wasAdded(reply) else { return }
            pendingPosts -= count
            engine.posts.accept(last, posts: count, bytes: bytes, now: .now)
            hasAccepted = true
        }
    }

    func announce(_ announcement: Announcement) {
        guard let epoch = session.epoch else { return }
        // The posts that were handed over before the horizons must reach the server first.
        sendBatch()
        var arguments = RedisWords(
            epoch.text, "\(session.options.streamLengthLimit)", engine.poster.text, "\(announcement.number)",
            "\(lastSent)", engine.added == epoch ? "1" : "0")
        arguments.append(StreamEntry.fields(of: announcement, by: engine.poster))
        lastSent = max(lastSent, announcement.number)
        evaluate(Scripts.announce, arguments) { [weak self] reply in _ = self?.wasAdded(reply) }
    }

    private func evaluate(
        _ script: String, _ arguments: RedisWords, _ answer: @escaping RedisConnection.Answer
    ) {
        session.evaluate(
            script, [session.generationKey, session.stream, session.posters], arguments,
            on: session.commands, answer)
    }

    /// Returns true if the reply says that the server has the entry that was sent to it; otherwise ends the session.
    private func wasAdded(_ reply: RedisValue) -> Bool {
        if let text = reply.error {
            session.fail("the server refuses a post: \(text)")
            return false
        }
        switch reply.integer {
        case 1:
            engine.added = session.epoch
            return true
        case -1: session.fail("the stream was deleted, or the database was emptied")
        case -2: session.fail("the server has refused a post")
        case .some, nil: session.unexpected("the script that posts")
        }
        return false
    }

    /// Reports to the engine what the server has accepted, and to the center that there is room.
    func report() {
        if hasAccepted {
            hasAccepted = false
            engine.accepted()
        }
        guard isWaitedForRoom, let commands = session.commands,
            pendingPosts <= RedisPosting.mostPending.count / 2,
            commands.pendingBytes <= RedisPosting.mostPending.bytes / 2
        else { return }
        isWaitedForRoom = false
        engine.sink?.room()
    }

    /// Tells the server that the poster has ended, if that is possible without waiting.
    func end(lastNumber: UInt64) {
        guard lastNumber > 0, let epoch = session.epoch else { return }
        // The posts that were handed over must reach the server first.
        sendBatch()
        let arguments = RedisWords(
            epoch.text, "\(session.options.streamLengthLimit)", engine.poster.text, "\(lastNumber)",
            "\(Scripts.mostEnds)")
        session.evaluate(
            Scripts.end, [session.generationKey, session.stream, session.posters, session.ends], arguments,
            on: session.commands
        ) { _ in }
        session.commands?.flush()
    }
}

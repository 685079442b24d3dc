internal import DistributedNotifications
internal import Glibc
internal import RunLoops

/// The engine of a center that delivers through a stream of a Redis or Valkey server.
///
/// The engine belongs to one center for the center's whole life. It connects again after each fault, and remembers how far
/// it had read on earlier connections. The state of one connection is in a ``RedisSession``.
///
/// > Thread safety: the thread of the center's loop.
final class RedisEngine: Engine {
    private enum State {
        /// The engine has not started, or looks up the name of the server.
        case beginning
        /// The engine connects, or is connected.
        case session(RedisSession)
        /// The engine connects again when the timer fires.
        case pausing(Timer)
        case ended
    }

    let address: RedisAddress
    let options: RedisOptions
    let loop: RunLoop
    private(set) var poster = PosterID(high: 0, low: 0)
    private(set) weak var sink: (any EngineSink)?
    private var state = State.beginning
    /// The facts about the server, and the generation of its data, when the engine was last connected.
    private var last: (info: ServerInfo, epoch: Epoch)?
    /// The generation in which the server last added an entry of this poster to its stream; nil if it has added none.
    var added: Epoch?
    var memory = ReadingMemory()
    var posts: AcceptedPosts
    private var backoff = ExponentialBackoff(from: .milliseconds(10), to: .seconds(5))
    private var awaySince: ContinuousClock.Instant?
    private var connectedSince: ContinuousClock.Instant?
    private var settling: Timer?

    init(_ address: RedisAddress, _ options: RedisOptions, _ loop: RunLoop) {
        self.address = address
        self.options = options
        self.loop = loop
        posts = AcceptedPosts(
            .init(time: options.retention, posts: options.retainedPostLimit, bytes: options.retainedByteLimit)
        )
    }

    private var session: RedisSession? { if case .session(let session) = state { session } else { nil } }
    private var isEnded: Bool { if case .ended = state { true } else { false } }

    // An open session and its parts hold each other.
    deinit { session?.close() }

    // MARK: - The connection

    func start(_ start: EngineStart, _ sink: any EngineSink) {
        poster = start.poster
        self.sink = sink
        // SIGPIPE is blocked, because the library writes to sockets with a call that can raise it. No code of the user runs on this
        // thread.
        var pipe = sigset_t()
        // Safe: the set is our own.
        unsafe sigemptyset(&pipe)
        unsafe sigaddset(&pipe, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &pipe, nil)
        sink.state(.connecting, epoch: nil)
        connect()
    }

    private func connect() {
        if isEnded { return }
        state = .beginning
        switch address {
        case .unix: begin(address)
        case .tcp(let host, let port):
            let engine = LoopBound(self)
            NameLookup.start(host, on: loop) { found in
                guard let engine = engine.value, !engine.isEnded else { return }
                switch found {
                case .success(let number): engine.begin(.tcp(host: number, port: port))
                case .failure(let error): engine.fail(nil, error)
                }
            }
        }
    }

    private func begin(_ address: RedisAddress) {
        let session = RedisSession(self, address)
        state = .session(session)
        session.start()
    }

    /// Records that the session is connected, with the generation of the server's data and the facts about the server.
    func opened(_ epoch: Epoch, _ info: ServerInfo) {
        if let last {
            if last.epoch != epoch { memory.beginGeneration() }
            if last.info.run != info.run || last.info.replication != info.replication { memory.beginRun() }
        }
        last = (info, epoch)
        posts.restart()
        connectedSince = .now
        awaySince = nil
        sink?.state(.connected, epoch: epoch)
    }

    /// Schedules another attempt to connect, because a session has ended or could not begin.
    func fail(_ failed: RedisSession?, _ error: DistributedNotificationError) {
        if isEnded || failed !== session { return }
        session?.close()
        state = .beginning
        let since = awaySince ?? .now
        awaySince = since
        // A connection that ends within five seconds does not reset the pause, so the pause keeps growing.
        if let connectedSince, .now - connectedSince > .seconds(5) { backoff.reset() }
        connectedSince = nil
        sink?.state(.away(since: since, describing(error)), epoch: nil)
        if isEnded { return }
        let timer = Timer(timeInterval: backoff.begin(), repeats: false) { [weak self] _ in
            self?.connect()
        }
        state = .pausing(timer)
        loop.add(timer, forMode: .common)
    }

    /// Adds the address of the server to the text of an error.
    private func describing(_ error: DistributedNotificationError) -> DistributedNotificationError {
        switch error.reason {
        case .engine, .protocolViolation:
            DistributedNotificationError(error.reason, details: "Redis at \(address): \(error.details)")
        default: error
        }
    }

    func end(lastNumber: UInt64) {
        let state = exchange(&self.state, with: .ended)
        settling?.invalidate()
        switch state {
        case .session(let session): session.end(lastNumber: lastNumber)
        case .pausing(let timer): timer.invalidate()
        case .beginning, .ended: break
        }
        sink = nil
    }

    // MARK: - Posting

    func publish(_ post: Post) -> Handed { session?.posting?.publish(post) ?? .away }

    func announce(_ announcement: Announcement) {
        if !announcement.horizons.isEmpty { session?.posting?.announce(announcement) }
    }

    /// Reports to the center that the server has accepted posts.
    func accepted() {
        backoff.reset()
        report()
    }

    private func report() {
        // Accepted posts are exempt from the center's limits: the retention has limits of its own, and must not limit the rate of
        // posts.
        sink?.acknowledged(accepted: posts.accepted, settled: posts.settled, exempt: posts.accepted)
        guard settling == nil, let due = posts.due else { return }
        let timer = Timer(timeInterval: max(due - .now, .milliseconds(1)), repeats: false) { [weak self] _ in
            guard let self else { return }
            settling = nil
            _ = posts.settle(now: .now)
            report()
        }
        settling = timer
        loop.add(timer, forMode: .common)
    }

    // MARK: - Observing

    func subscribe(_ subscriptions: [Subscription]) { session?.observing?.subscribe(subscriptions) }

    func unsubscribe(_ numbers: [UInt64]) {
        memory.remove(numbers)
        session?.observing?.unsubscribe(numbers)
    }

    func locate(_ posters: [PosterID]) { session?.observing?.locate(posters) }

    func confirm(_ batch: UInt64, credits: Int) { session?.observing?.confirm(credits: credits) }
}

/// A weak reference to an object that only a loop's thread uses.
///
/// A block can hold the reference on another thread, and bring it back to the loop's thread.
///
/// `@unchecked Sendable`: the value is read on the loop's thread only.
final class LoopBound<Value: AnyObject>: @unchecked Sendable {
    private(set) weak var value: Value?

    init(_ value: Value) { self.value = value }
}

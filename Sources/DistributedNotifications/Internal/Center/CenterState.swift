internal import RunLoops
internal import Synchronization

/// The part of a center that any thread uses: its log of posts, its observers' lanes, and the list of waiting callers.
///
/// A caller waits for room, or for a post to be accepted or settled.
///
/// > Thread safety: any thread.
final class CenterState: Sendable {
    /// A thread or task that waits for a post to be accepted or settled.
    private struct PostWaiter: Sendable {
        let number: UInt64
        let milestone: DistributedNotificationCenter.Milestone
        let shot: OneShot<DistributedNotificationError?>

        func isDone(_ log: PosterLog) -> Bool {
            switch milestone {
            case .accepted: log.accepted >= number
            case .settled: log.settled >= number
            }
        }
    }

    private struct State: Sendable {
        var log: PosterLog
        var connection = ConnectionState.connecting
        var hasEnded = false
        /// True while the loop hands posts to the engine, and while a block that will do so is scheduled.
        var isPumping = false
        var lanes: [UInt64: ObserverLane] = [:]
        var lastSubscription: UInt64 = 0
        var postWaiters: [PostWaiter] = []
        var roomWaiters: [OneShot<DistributedNotificationError?>] = []
        var watchers: [UInt64: @Sendable (ConnectionState) -> Void] = [:]
        var droppedCount = 0
    }

    /// The maximum number of observers of a center.
    static let mostObservers = Hub.Limits().subscriptions

    let poster: PosterID
    let options: DistributedNotificationCenter.Options
    let page = NumberPage()
    let loop: RunLoop
    private let state: Guarded<State>
    private let suspension = Atomic<Bool>(false)
    private let core = LoopConfined<CenterCore>()

    init(_ options: DistributedNotificationCenter.Options, _ loop: RunLoop) {
        poster = PosterID.random()
        self.options = options
        self.loop = loop
        state = Guarded(
            State(
                log: PosterLog(
                    poster,
                    .init(
                        posts: options.keptPostLimit, bytes: options.keptByteLimit, topics: options.topicLimit
                    ))
            ))
    }

    /// Calls a closure on the loop's thread, and passes it the core, unless the center has ended.
    private func onCore(_ body: @escaping @Sendable (CenterCore) -> Void) {
        loop.performInEveryMode { [self] in if let known = core.value { body(known) } }
    }

    // MARK: - Beginning and end

    func start(_ engine: DistributedNotificationEngine) {
        loop.performInEveryMode { [self] in
            do throws(DistributedNotificationError) {
                let made = CenterCore(self, try engine.make(loop))
                core.value = made
                made.start()
            } catch { end(error) }
        }
    }

    /// Ends the center.
    ///
    /// - Parameter reason: The reason that the engine cannot go on; nil if the center was invalidated.
    func end(_ reason: DistributedNotificationError?) {
        let ending:
            (
                lanes: [ObserverLane], posts: [PostWaiter], rooms: [OneShot<DistributedNotificationError?>],
                last: UInt64
            )? =
                state.withLock { state in
                    if state.hasEnded { return nil }
                    state.hasEnded = true
                    defer {
                        state.lanes = [:]
                        state.postWaiters = []
                        state.roomWaiters = []
                    }
                    return (
                        Array(state.lanes.values), state.postWaiters, state.roomWaiters, state.log.lastNumber
                    )
                }
        guard let ending else { return }
        changeState(.ended(reason))
        for lane in ending.lanes { lane.remove() }
        for waiter in ending.posts { waiter.shot.decide(reason ?? DistributedNotificationError(.ended)) }
        for room in ending.rooms { room.decide(reason ?? DistributedNotificationError(.ended)) }
        // The block keeps this object alive, because the core still refers to this object.
        loop.performInEveryMode { [self] in
            core.value?.end(lastNumber: ending.last)
            core.value = nil
        }
    }

    // MARK: - Posting

    /// Adds a post to the log, and schedules a block that hands the post to the engine.
    ///
    /// `milestone` is the stage that the caller waits for; nil for none. The result contains the number of the post. If there is a
    /// milestone, the result also contains a ``OneShot``, which is decided when the post reaches that stage.
    ///
    /// If there is no room, the post is not added. In that case, if `waits` is true, the result is a ``OneShot`` that is decided
    /// when there is room. If `waits` is false, the method throws an error.
    func post(
        _ topic: Topic, _ payload: [UInt8], isImmediate: Bool, dropsOldest: Bool, waits: Bool,
        until milestone: DistributedNotificationCenter.Milestone? = nil
    ) throws(DistributedNotificationError) -> Posted {
        let (date, time) = (WallClock.now, MachineClock.now)
        let (posted, pumps, settled, dropped) = try state.withLock {
            state throws(DistributedNotificationError) -> (Posted, Bool, [PostWaiter], [PostWaiter]) in
            if state.hasEnded { throw DistributedNotificationError(.ended) }
            switch state.log.add(
                topic, payload: payload, date: date, at: time, isImmediate: isImmediate,
                dropsOldest: dropsOldest)
            {
            case .tooManyTopics: throw .init(.tooManyTopics, limit: options.topicLimit)
            case .full:
                if !waits { throw DistributedNotificationError(.full) }
                let shot = OneShot<DistributedNotificationError?>()
                state.roomWaiters.append(shot)
                return (.waits(shot), false, [], [])
            case .taken(let number, let dropped):
                page.store(number)
                state.droppedCount += dropped.count
                var (settled, lost): ([PostWaiter], [PostWaiter]) = ([], [])
                if let oldest = dropped.first, let newest = dropped.last {
                    // The engine has accepted every post before the oldest dropped one, so those posts are settled, not lost.
                    settled = state.postWaiters.filter { $0.number < oldest }
                    lost = state.postWaiters.filter { $0.number >= oldest && $0.number <= newest }
                    state.postWaiters.removeAll { $0.number <= newest }
                }
                defer { state.isPumping = true }
                let waiter = milestone.map { PostWaiter(number: number, milestone: $0, shot: OneShot()) }
                if let waiter { state.postWaiters.append(waiter) }
                return (.taken(number, waiter?.shot), !state.isPumping, settled, lost)
            }
        }
        for waiter in settled { waiter.shot.decide(nil) }
        for waiter in dropped { waiter.shot.decide(DistributedNotificationError(.dropped)) }
        if pumps { onCore { $0.pump() } }
        return posted
    }

    enum Posted: Sendable {
        case taken(UInt64, OneShot<DistributedNotificationError?>?)
        case waits(OneShot<DistributedNotificationError?>)
    }

    /// Forgets a ``OneShot`` that ``post`` has returned, because the caller no longer waits for it.
    func stopWaiting(for result: OneShot<DistributedNotificationError?>) {
        state.withLock { state in
            state.roomWaiters.removeAll { $0 === result }
            state.postWaiters.removeAll { $0.shot === result }
        }
    }

    /// The number of threads and tasks that wait for room or for a stage of a post.
    var waiterCount: Int { state.withLock { $0.roomWaiters.count + $0.postWaiters.count } }

    /// The maximum number of posts that are read from the log each time that the lock is acquired.
    private static let mostAtOnce = 64

    /// Returns the announcement or the posts that the engine gets next; nil if there is nothing to hand over.
    func nextToHandOver() -> (Announcement?, [Post])? {
        state.withLock { state in
            if let announcement = state.log.takeAnnouncement() { return (announcement, []) }
            let posts = state.log.next(atMost: CenterState.mostAtOnce)
            if !posts.isEmpty { return (nil, posts) }
            state.isPumping = false
            return nil
        }
    }

    /// Notes that the engine has taken all posts up to `number`.
    func handedOver(_ number: UInt64) { state.withLock { $0.log.handedOver(number) } }

    /// Notes that the engine takes no more posts for now.
    func stopPumping() { state.withLock { $0.isPumping = false } }

    /// Notes that the loop has begun to hand posts over.
    func beginPumping() { state.withLock { $0.isPumping = true } }

    /// True if posts were handed to the engine, and the engine has not yet acknowledged all of them as accepted.
    var isOwed: Bool { state.withLock { $0.log.isOwed } }

    func acknowledged(accepted: UInt64, settled: UInt64, exempt: UInt64) {
        let (done, rooms): ([PostWaiter], [OneShot<DistributedNotificationError?>]) = state.withLock {
            state in
            let hasRoom = state.log.acknowledge(accepted: accepted, settled: settled, exempt: exempt)
            var rooms: [OneShot<DistributedNotificationError?>] = []
            if hasRoom { swap(&rooms, &state.roomWaiters) }
            let log = state.log
            let done = state.postWaiters.filter { $0.isDone(log) }
            if !done.isEmpty { state.postWaiters.removeAll { $0.isDone(log) } }
            return (done, rooms)
        }
        for waiter in done { waiter.shot.decide(nil) }
        for room in rooms { room.decide(nil) }
    }

    // MARK: - The connection

    var connection: ConnectionState { state.withLock { $0.connection } }

    func changeState(_ connection: ConnectionState) {
        let watchers: [@Sendable (ConnectionState) -> Void] = state.withLock { state in
            if state.connection == connection { return [] }
            if case .ended = state.connection { return [] }
            state.connection = connection
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher(connection) }
    }

    /// Notes that the engine is connected, and returns the first announcement for the engine.
    func connect(sharesClock: Bool) -> Announcement {
        state.withLock { $0.log.connect(sharesClock: sharesClock) }
    }

    func disconnect() { state.withLock { $0.log.disconnect() } }

    func watchConnection(_ watcher: @escaping @Sendable (ConnectionState) -> Void) -> UInt64 {
        let (number, now): (UInt64, ConnectionState) = state.withLock { state in
            state.lastSubscription += 1
            state.watchers[state.lastSubscription] = watcher
            return (state.lastSubscription, state.connection)
        }
        watcher(now)
        return number
    }

    func stopWatching(_ number: UInt64) { state.withLock { _ = $0.watchers.removeValue(forKey: number) } }

    // MARK: - Observers

    func add(_ lane: ObserverLane, name: String?, sender: String?, start: Subscription.Start) -> UInt64 {
        let number: UInt64? = state.withLock { state in
            if state.hasEnded { return nil }
            if state.lanes.count >= CenterState.mostObservers {
                misuse(
                    "DistributedNotificationCenter.addObserver: the center has \(state.lanes.count) observers, the most that a hub serves; call several handlers from one observer, or use another center"
                )
            }
            state.lastSubscription += 1
            state.lanes[state.lastSubscription] = lane
            return state.lastSubscription
        }
        guard let number else {
            lane.remove()
            return 0
        }
        lane.followSuspension(of: self)
        let subscription = Subscription(number: number, name: name, sender: sender, start: start)
        onCore { $0.add(subscription, lane) }
        return number
    }

    func remove(_ number: UInt64) {
        if state.withLock({ $0.lanes.removeValue(forKey: number) }) == nil { return }
        onCore { $0.remove(number) }
    }

    var isSuspended: Bool { suspension.load(ordering: .relaxed) }

    func suspend(_ suspends: Bool) {
        suspension.store(suspends, ordering: .relaxed)
        for lane in state.withLock({ Array($0.lanes.values) }) { lane.followSuspension(of: self) }
    }

    var statistics: DistributedNotificationCenter.Statistics {
        state.withLock { state in
            .init(
                posted: state.log.lastNumber, accepted: state.log.accepted, kept: state.log.retained.count,
                dropped: state.droppedCount)
        }
    }
}

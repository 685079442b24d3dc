internal import RunLoops

/// The part of a center that only the thread of its loop uses: its engine, and a ``Follower`` for each observer.
///
/// > Thread safety: the thread of the loop.
final class CenterCore {
    private struct Observer {
        var follower: Follower
        let lane: ObserverLane
        /// The events that are appended to `lane` by the next ``flush()``.
        var events: [Follower.Event] = []
    }

    unowned let state: CenterState
    let engine: any Engine
    private var observers: [UInt64: Observer] = [:]
    /// The numbers of the observers that want one name, keyed by that name.
    private var byName: [String: [UInt64]] = [:]
    /// The numbers of the observers that want every name.
    private var byEveryName: [UInt64] = []
    /// The numbers of the observers whose `events` are not empty.
    private var fed: [UInt64] = []
    /// The bytes of the observers' accounts of posters and topics.
    private var accountBytes = 0
    private var known = KnownPosters()
    /// The identity of the store that the engine is connected to; nil while there is no connection.
    var epoch: Epoch?
    /// True if all centers of this connection read the same clock.
    private var sharesClock = false
    private var grace: Timer?
    var stall: Timer?
    /// The time from which a stall is measured.
    ///
    /// This is the later of two times: that of the engine's last acknowledgement, and that of the first post that waits for one.
    var lastProgress = ContinuousClock.now
    /// True if the engine owed an acknowledgement when ``watchForStall()`` was last called.
    var wasOwed = false
    /// True from the moment when the engine refuses a post for lack of room until the engine has room again.
    var isFull = false
    /// The number of further posts that each confirmation allows the engine to deliver.
    private static let credits = 1_024
    /// The maximum of ``accountBytes``: some 250,000 topics of posters.
    private static let mostAccountBytes = 33_554_432

    init(_ state: CenterState, _ engine: any Engine) {
        self.state = state
        self.engine = engine
    }

    func start() {
        let file = state.page.descriptor
        engine.start(EngineStart(poster: state.poster, numberFile: file < 0 ? nil : file), self)
    }

    func end(lastNumber: UInt64) {
        grace?.invalidate()
        stall?.invalidate()
        engine.end(lastNumber: lastNumber)
    }

    // MARK: - Observers

    func add(_ subscription: Subscription, _ lane: ObserverLane) {
        if lane.isRemoved { return }
        var observer = Observer(follower: Follower(subscription), lane: lane)
        observer.follower.connect()
        observers[subscription.number] = observer
        if let name = subscription.name {
            byName[name, default: []].append(subscription.number)
        } else {
            byEveryName.append(subscription.number)
        }
        if epoch != nil { engine.subscribe([subscription]) }
    }

    func remove(_ number: UInt64) {
        guard let removed = observers.removeValue(forKey: number) else { return }
        accountBytes -= removed.follower.bytes
        if let name = removed.follower.subscription.name {
            byName[name]?.removeAll { $0 == number }
            if byName[name]?.isEmpty == true { byName[name] = nil }
        } else {
            byEveryName.removeAll { $0 == number }
        }
        if epoch != nil { engine.unsubscribe([number]) }
    }

    /// Changes the ``Follower`` of one observer.
    ///
    /// The observer's events that result from the change are kept until ``flush()``.
    private func feed(_ number: UInt64, _ body: (inout Follower, (Follower.Event) -> Void) -> Void) {
        guard let index = observers.index(forKey: number) else { return }
        var events: [Follower.Event] = []
        swap(&events, &observers.values[index].events)
        if events.isEmpty { fed.append(number) }
        let before = observers.values[index].follower.bytes
        body(&observers.values[index].follower) { events.append($0) }
        accountBytes += observers.values[index].follower.bytes - before
        if events.isEmpty { fed.removeLast() }
        swap(&events, &observers.values[index].events)
    }

    /// Appends the events that are kept for each observer to the observer's lane.
    private func flush() {
        for number in fed {
            guard let index = observers.index(forKey: number) else { continue }
            var events: [Follower.Event] = []
            swap(&events, &observers.values[index].events)
            observers.values[index].lane.append(events)
        }
        fed.removeAll(keepingCapacity: true)
    }

    /// Makes the observer with the largest accounts forget, so that another process cannot fill the memory with its topics.
    private func forgetAccounts() {
        guard
            let greediest = observers.max(by: { left, right in
                (left.value.follower.bytes, left.key) < (right.value.follower.bytes, right.key)
            })
        else { return }
        feed(greediest.key) { $0.forget($1) }
    }

    private func feedAll(_ body: (inout Follower, (Follower.Event) -> Void) -> Void) {
        for number in observers.keys.sorted() { feed(number, body) }
    }

    private func feed(
        ofName name: String, _ body: (inout Follower, (Follower.Event) -> Void) -> Void
    ) {
        for number in byName[name] ?? [] { feed(number, body) }
        for number in byEveryName { feed(number, body) }
    }
}

// MARK: - From the engine

extension CenterCore: EngineSink {
    func state(_ connection: ConnectionState, epoch: Epoch?, sharesClock: Bool) {
        switch connection {
        case .connected:
            guard let epoch else { preconditionFailure("an engine that is connected has an epoch") }
            begin(epoch, sharesClock)
        case .connecting, .away, .stalled:
            self.epoch = nil
            isFull = false
            state.disconnect()
            state.changeState(connection)
        case .ended(let reason): state.end(reason)
        }
    }

    private func begin(_ epoch: Epoch, _ sharesClock: Bool) {
        self.epoch = epoch
        self.sharesClock = sharesClock
        isFull = false
        wasOwed = false
        let announcement = state.connect(sharesClock: sharesClock)
        engine.announce(announcement)
        locate()
        for number in observers.keys { observers[number]?.follower.connect() }
        let subscriptions = observers.keys.sorted().compactMap { observers[$0]?.follower.subscription }
        if !subscriptions.isEmpty { engine.subscribe(subscriptions) }
        engine.confirm(0, credits: CenterCore.credits)
        state.changeState(.connected)
        state.beginPumping()
        pump()
    }

    /// Asks the engine which of the center's known posters have ended.
    ///
    /// If the engine does not report a poster within the grace period, the center treats that poster as ended.
    private func locate() {
        let asked = known.connect()
        if !known.hasDoubts { return }
        if !asked.isEmpty { engine.locate(asked) }
        awaitGrace()
    }

    /// Starts the grace period.
    ///
    /// At the end of the period, the center treats a known poster as ended if the engine has not reported that poster.
    private func awaitGrace() {
        grace?.invalidate()
        let timer = Timer(timeInterval: state.options.reconnectTimeout, repeats: false) { [unowned self] _ in
            grace = nil
            // Without a connection, no poster can be reported. On the next connection, the center asks again.
            if epoch == nil { return }
            for poster in known.giveUp() { feedAll { $0.giveUp(poster, $1) } }
            flush()
        }
        grace = timer
        state.loop.add(timer, forMode: .common)
    }

    func acknowledged(accepted: UInt64, settled: UInt64, exempt: UInt64) {
        lastProgress = .now
        state.acknowledged(accepted: accepted, settled: settled, exempt: exempt)
        if case .stalled = state.connection { state.changeState(.connected) }
        watchForStall()
    }

    func room() {
        isFull = false
        state.beginPumping()
        pump()
    }

    func deliver(_ batch: EngineBatch) {
        guard let epoch else { return }
        for item in batch.items {
            take(item, epoch)
            if accountBytes > CenterCore.mostAccountBytes { forgetAccounts() }
        }
        flush()
        if !known.hasDoubts, let timer = grace {
            timer.invalidate()
            grace = nil
        }
        engine.confirm(batch.number, credits: CenterCore.credits)
    }

    private func take(_ item: EngineBatch.Item, _ epoch: Epoch) {
        switch item {
        case .post(let delivered):
            known.note(delivered.post.poster)
            if let only = delivered.subscription {
                feed(only) { $0.take(delivered, in: epoch, $1) }
            } else {
                feed(ofName: delivered.post.topic.name) { $0.take(delivered, in: epoch, $1) }
            }
        case .horizon(let horizon, let only):
            known.note(horizon.poster)
            if let only {
                feed(only) { $0.take(horizon, isForAll: false, in: epoch, $1) }
            } else {
                feed(ofName: horizon.topic.name) { $0.take(horizon, isForAll: true, in: epoch, $1) }
            }
        case .baseline(let baseline):
            let time = sharesClock ? MachineClock.now : .min
            feed(baseline.subscription) { $0.take(baseline, in: epoch, at: time, $1) }
            if baseline.hasForgotten { locate() }
            if let observer = observers[baseline.subscription], observer.follower.hasBegun {
                flush()
                observer.lane.confirm()
            }
        case .present(let poster): known.note(poster)
        case .ended(let end, let only):
            known.end(end.poster)
            if let only {
                feed(only) { $0.take(end, in: epoch, $1) }
            } else {
                feedAll { $0.take(end, in: epoch, $1) }
            }
        }
    }
}

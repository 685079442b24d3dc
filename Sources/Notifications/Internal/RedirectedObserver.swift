internal import RunLoops
internal import Synchronization

/// An observer that is called on the thread of a loop: what lies between the post and the call.
final class RedirectedObserver: Sendable {
    /// Keeps what posters read off the cache lines of the reference count, which the loop's thread writes for each delivery:
    /// with the object's header two lines, because processors fetch them in pairs.
    private let countPadding = InlineArray<14, UInt64>(repeating: 0)

    let redirector: NotificationRedirector
    let lane: DeliveryLane
    private let capacity: NotificationRedirector.Capacity
    /// The end of the way, with the user's handler.
    let observation: Observation

    /// What waits if the capacity is limited; an unlimited observer keeps no account.
    private let account = Guarded(DeliveryAccount())
    private let dropped = Atomic<Int>(0)
    private let undelivered = Atomic<Int>(0)
    /// The user wants no more: what waits is not missed by anybody.
    private let wasRemoved = Atomic<Bool>(false)

    /// What takes notifications for this; nil once nobody is called any more, for it holds this.
    private let registration = Guarded<Registration?>(nil)

    /// The same for what the loop's thread counts.
    private let deliveredPadding = InlineArray<16, UInt64>(repeating: 0)
    /// Written by the loop's thread only, for each delivery.
    private let delivered = Atomic<Int>(0)

    init(
        _ redirector: NotificationRedirector, _ modes: [RunLoop.Mode],
        _ capacity: NotificationRedirector.Capacity, _ handler: @escaping (Notification) -> Void
    ) {
        self.redirector = redirector
        lane = redirector.lane(for: modes)
        self.capacity = capacity
        observation = RedirectedObservation(redirector.runLoop, handler)
    }

    var counts: NotificationRedirector.Counts {
        NotificationRedirector.Counts(
            delivered: delivered.load(ordering: .relaxed), dropped: dropped.load(ordering: .relaxed),
            undelivered: undelivered.load(ordering: .relaxed))
    }

    // MARK: - The posting thread

    /// Sees to it that the handler is called on the loop's thread.
    func take(_ notification: Notification) {
        if redirector.mayDeliverAtOnce(lane) { return call(notification) }
        notification.receipt?.enter(redirector.runLoop)
        guard case .unlimited = capacity.kind else { return takeIntoAccount(notification) }
        if notification.receipt == nil {
            lane.announce()
            unsafe lane.sendAnnounced(Delivery(notification, to: self), to: redirector.runLoop) {
                unsafe Delivery.end(at: $0, hasArrived: $1)
            }
        } else {
            let delivery = AwaitedDelivery(notification, to: self)
            let isAwaited = account.withLock { $0.addAwaited(ObjectIdentifier(delivery), notification) }
            if !isAwaited { return finish(notification) }
            lane.announce()
            unsafe lane.sendAnnounced(delivery, to: redirector.runLoop) {
                unsafe AwaitedDelivery.end(at: $0, hasArrived: $1)
            }
        }
    }

    private func takeIntoAccount(_ notification: Notification) {
        var gate: ThreadGate?
        var deadline = ContinuousClock.Instant.distantFuture
        if case .bounded(_, .block(let duration)) = capacity.kind {
            deadline = RunLoop.now + duration
            // The loop's own thread cannot wait for itself: its posts are taken beyond the limit.
            if !redirector.runLoop.isCurrent { gate = ThreadGate() }
        }
        while true {
            switch offer(notification, gate) {
            case .giveTurn(let number): return giveTurn(number)
            case .merged, .unwanted: return finish(notification)
            case .drop(let oldest): return drop(oldest)
            case .dropNew: return drop(notification)
            case .wait:
                guard let waited = gate else { preconditionFailure("who has no gate is not told to wait") }
                gate = ThreadGate()
                if waited.wait(until: deadline) { continue }
                let next = account.withLock { $0.leave(waited) }
                next?.open()
                return drop(notification)
            }
        }
    }

    /// Enters a notification into the account of a limited observer.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - gate: Where the poster would wait; nil if it cannot.
    /// - Returns: What the poster does next.
    func offer(_ notification: Notification, _ gate: ThreadGate? = nil) -> DeliveryAccount.Step {
        account.withLock { account in
            let step = account.offer(notification, capacity, observation.isRemoved ? nil : gate)
            // In here: while it waits in the account something is under way, or what the loop's thread posts would overtake it.
            if case .giveTurn = step { lane.announce() }
            return step
        }
    }

    /// Sends the loop the turn of a notification that was taken into the account.
    func giveTurn(_ number: Int) {
        unsafe lane.sendAnnounced(Turn(of: self, number), to: redirector.runLoop) {
            unsafe Turn.end(at: $0, hasArrived: $1)
        }
    }

    private func drop(_ notification: Notification) {
        dropped.add(1, ordering: .relaxed)
        finish(notification)
    }

    /// Tells who waits for the notification that this observer has had its share.
    private func finish(_ notification: Notification, wasLost: Bool = false) {
        notification.receipt?.leave(redirector.runLoop, wasLost: wasLost)
    }

    // MARK: - The loop's thread

    /// A turn has come, and brings its notification.
    @inline(__always)
    func deliver(_ notification: Notification) {
        call(notification)
        finish(notification)
    }

    /// A turn has come that a poster waits for, if it still does.
    func deliver(_ notification: Notification, awaitedAs id: ObjectIdentifier) {
        let isAwaited = account.withLock { $0.removeAwaited(id) }
        if isAwaited { deliverAwaited(notification) } else { call(notification) }
    }

    /// Delivers what a poster may wait for, who is told also if the handler ends the thread.
    private func deliverAwaited(_ notification: Notification) {
        guard let receipt = notification.receipt else { return call(notification) }
        RunningDeliveries.on(redirector.runLoop).during(receipt) { call(notification) }
        finish(notification)
    }

    /// How many deliveries posters wait for.
    var awaitedCount: Int { account.withLock { $0.awaitedCount } }

    /// How many posters wait for room.
    var waitingPosterCount: Int { account.withLock { $0.waitingPosterCount } }

    /// A turn of the account has come.
    func deliver(turn: Int) {
        var isUnderWay = true
        while let next = next(of: turn) {
            // As long as others of this turn wait it is under way: a handler may run the loop, and what is posted there must
            // not overtake them.
            if next.isLast {
                isUnderWay = false
                lane.hasArrived()
            }
            deliverAwaited(next.notification)
        }
        if isUnderWay { lane.hasArrived() }
    }

    /// Takes the next one that a turn delivers, and lets in who waits for its room.
    private func next(of turn: Int) -> DeliveryAccount.Next? {
        guard let next = account.withLock({ $0.next(of: turn, capacity) }) else { return nil }
        next.gate?.open()
        return next
    }

    @inline(__always)
    private func call(_ notification: Notification) {
        CallRecord.current.withPlace { place in
            observation.call(notification, in: place) {
                // In here, a removal can no longer keep the handler from being called.
                delivered.store(delivered.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            }
        }
    }

    // MARK: - The end

    /// Takes note of what takes notifications for this.
    func setRegistration(_ registration: Registration) {
        self.registration.withLock { $0 = registration }
        // The loop may have ended since.
        if observation.isRemoved { forget() }
    }

    /// Nothing is sent any more: lives until all that was sent has arrived, or was let go of.
    ///
    /// When the last poster has returned, so that this comes behind all of it.
    func outliveDeliveries() {
        // In a forked child nothing arrives.
        if Fork.isChild { return }
        // What is sent to a limited observer counts its references. Not asked whether the lane is empty: a delivery that has
        // just arrived may not have counted its reference yet, for the compiler may move that behind its word to the lane.
        guard case .unlimited = capacity.kind else { return }
        let runLoop = redirector.runLoop
        // The loop's thread ends, and may still be letting go of what was sent.
        if !lane.perform(on: runLoop, { withExtendedLifetime(self) {} }) { runLoop.keepToTheEnd(self) }
    }

    /// Nobody is called any more, and nobody waits for room any more.
    func remove() {
        // In a forked child nothing waits to be delivered, and locks that other threads of its parent held stay taken.
        if Fork.isChild { return _ = observation.remove() }
        wasRemoved.store(true, ordering: .releasing)
        forget()
        // The turns that the loop was given find nothing.
        let closed = account.withLock { $0.close() }
        for gate in closed.gates { gate.open() }
        for notification in closed.notifications { finish(notification) }
    }

    /// Takes nothing more.
    private func forget() {
        _ = observation.remove()
        let ended = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        ended?.end()
    }

    /// A turn was let go of without having come: the loop has ended.
    func lost(_ notification: Notification) {
        noteLoss()
        finish(notification, wasLost: true)
    }

    private func noteLoss() {
        if wasRemoved.load(ordering: .acquiring) { return }
        undelivered.add(1, ordering: .relaxed)
        redirector.lost()
        forget()
    }

    /// The turn was one that a poster waits for, if it still does.
    func lost(_ notification: Notification, awaitedAs id: ObjectIdentifier) {
        noteLoss()
        if account.withLock({ $0.removeAwaited(id) }) { finish(notification, wasLost: true) }
    }

    /// The turn was one of the account.
    func lost(turn: Int) {
        while let next = next(of: turn) { lost(next.notification) }
    }
}

internal import RunLoops

/// The queue of events for one observer, and the loop or task that takes events from the queue.
///
/// > Thread safety: any thread appends events; only the observer's loop or task takes events out.
final class ObserverLane: Sendable {
    /// The consumer of the events: a loop, which calls a handler, or a task.
    enum Target: Sendable {
        case loop(RunLoop, [RunLoop.Mode], SourceLocation, @Sendable (DistributedNotificationEvent) -> Void)
        case task
    }

    private struct State: Sendable {
        var queue: EventQueue
        /// True while a block that takes events is scheduled, or runs.
        var isScheduled = false
        var isRemoved = false
        /// True once the engine has confirmed the subscription.
        var isConfirmed = false
        /// The one-shot on which a task waits for an event; nil if no task waits.
        var waiter: OneShot<Bool>?
        /// The one-shots on which threads and tasks wait until the subscription is confirmed.
        var confirmations: [OneShot<Bool>] = []
        var deliveredCount = 0
    }

    /// The maximum number of events that one block delivers before other inputs of the loop have their turn.
    private static let mostAtOnce = 64

    private let target: Target
    private let state: Guarded<State>

    init(_ target: Target, _ queue: EventQueue) {
        self.target = target
        state = Guarded(State(queue: queue))
    }

    var isRemoved: Bool { state.withLock { $0.isRemoved } }

    var isConfirmed: Bool { state.withLock { $0.isConfirmed } }

    var isSuspended: Bool { state.withLock { $0.queue.isSuspended } }

    var counts: DistributedObservation.Statistics {
        state.withLock { .init(delivered: $0.deliveredCount, dropped: $0.queue.droppedCount) }
    }

    // MARK: - From the center

    /// Appends events to the queue, and wakes the observer's loop or task if needed.
    func append(_ events: [Follower.Event]) {
        change { queue in for event in events { queue.append(event) } }
    }

    /// Suspends or resumes the lane, to match its center.
    ///
    /// Several threads can suspend and resume the center at the same time. Each of them stores the center's state, and then calls
    /// this method. The state is loaded under the lane's lock, so the last of these calls finds the last change.
    func followSuspension(of center: CenterState) { change { $0.suspend(center.isSuspended) } }

    private func change(_ body: (inout EventQueue) -> Void) {
        let (schedules, waiter): (Bool, OneShot<Bool>?) = state.withLock { state in
            if state.isRemoved { return (false, nil) }
            body(&state.queue)
            if !state.queue.hasNext || state.isScheduled { return (false, nil) }
            switch target {
            case .loop:
                state.isScheduled = true
                return (true, nil)
            case .task: return (false, state.waiter.take())
            }
        }
        if schedules { schedule() }
        waiter?.decide(true)
    }

    /// Notes that the engine has confirmed the subscription, and wakes the threads and tasks that wait for this.
    func confirm() {
        let waiting = state.withLock { state in
            state.isConfirmed = true
            return exchange(&state.confirmations, with: [])
        }
        for confirmation in waiting { confirmation.decide(true) }
    }

    /// Removes the lane, and discards the waiting events.
    ///
    /// - Returns: False if the lane had been removed before.
    @discardableResult
    func remove() -> Bool {
        let (isFirst, waiting): (Bool, [OneShot<Bool>]) = state.withLock { state in
            if state.isRemoved { return (false, []) }
            state.isRemoved = true
            state.queue = EventQueue(.unlimited, .hold, mostHeld: 1)
            defer {
                state.confirmations = []
                state.waiter = nil
            }
            return (true, state.confirmations + (state.waiter.map { [$0] } ?? []))
        }
        for waiter in waiting { waiter.decide(false) }
        return isFirst
    }

    /// Registers a caller that waits until the subscription is confirmed.
    ///
    /// - Returns: A one-shot, or nil if the subscription is already confirmed or the lane is already removed. The value of the
    ///   one-shot becomes true when the subscription is confirmed, or false if the lane is removed first.
    func awaitConfirmation() -> OneShot<Bool>? {
        state.withLock { state in
            if state.isConfirmed || state.isRemoved { return nil }
            let shot = OneShot<Bool>()
            state.confirmations.append(shot)
            return shot
        }
    }

    // MARK: - On the loop

    private func schedule() {
        guard case .loop(let loop, let modes, let origin, _) = target else { return }
        let isSent = loop.perform(inModes: modes, fileID: origin.fileID, line: Int(origin.line)) { [self] in
            deliver()
        }
        if !isSent { remove() }
    }

    private func deliver() {
        guard case .loop(_, _, _, let handler) = target else { return }
        for _ in 0..<ObserverLane.mostAtOnce {
            guard let event = take() else { return }
            handler(event)
        }
        schedule()
    }

    /// Removes and returns the next event; nil if there is none.
    ///
    /// If the result is nil, the calling block ends. The next change that makes an event available then schedules a new block.
    private func take() -> DistributedNotificationEvent? {
        state.withLock { state in
            guard !state.isRemoved, let event = state.queue.next() else {
                state.isScheduled = false
                return nil
            }
            if case .notification = event { state.deliveredCount += 1 }
            return event
        }
    }

    // MARK: - In a task

    /// Waits for the next event, and returns it; nil if the lane has ended or the task was cancelled.
    func next(isolation: isolated (any Actor)?) async -> DistributedNotificationEvent? {
        while true {
            let wait = OneShot<Bool>()
            let (event, ends): (DistributedNotificationEvent?, Bool) = state.withLock { state in
                if state.isRemoved { return (nil, true) }
                if let event = state.queue.next() {
                    if case .notification = event { state.deliveredCount += 1 }
                    return (event, false)
                }
                state.waiter = wait
                return (nil, false)
            }
            if event != nil || ends { return event }
            let goesOn = await wait.value(
                before: .never, timedOut: false, cancelled: false, isolation: isolation
            ) {}
            if !goesOn { return nil }
        }
    }
}

internal import RunLoops
internal import Synchronization

/// An observer that is called on the thread of a loop: what lies between the post and the call.
final class RedirectedObserver: Sendable {
    let redirector: NotificationRedirector
    let modes: [RunLoop.Mode]
    let capacity: NotificationRedirector.Capacity
    /// The end of the way, with the user's handler.
    let observation: Observation

    /// What waits of a bounded observer, oldest first; an unlimited one keeps no account.
    private let waiting = Guarded(Waiting())
    private let delivered = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let undelivered = Atomic<Int>(0)
    /// The user wants no more: what waits is not missed by anybody.
    private let wasRemoved = Atomic<Bool>(false)

    /// What takes notifications for this; nil once nobody is called any more, for it holds this.
    private let registration = Guarded<Registration?>(nil)

    private struct Waiting {
        var entries: [Entry] = []
        /// Posters that wait for room.
        var gates: [ThreadGate] = []
    }

    /// A delivery as the account knows it.
    ///
    /// The loop's queue alone keeps it, and when that goes, it goes.
    private struct Entry: Sendable {
        weak let delivery: Delivery?
        let id: ObjectIdentifier
        let name: Notification.Name
        let sender: ObjectIdentifier?

        init(_ delivery: Delivery, _ notification: Notification) {
            self.delivery = delivery
            id = ObjectIdentifier(delivery)
            name = notification.name
            sender = notification.sender
        }

        func saysTheSame(as other: Notification, _ mask: NotificationQueue.NotificationCoalescing) -> Bool {
            if mask.isEmpty { return false }
            if mask.contains(.onName) && name != other.name { return false }
            return !mask.contains(.onSender) || sender == other.sender
        }
    }

    init(
        _ redirector: NotificationRedirector, _ modes: [RunLoop.Mode],
        _ capacity: NotificationRedirector.Capacity, _ handler: @escaping (Notification) -> Void
    ) {
        self.redirector = redirector
        self.modes = modes
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
        if redirector.mayDeliverAtOnce(inModes: modes) {
            deliver(notification)
            return
        }
        if let receipt = notification.receipt, redirector.runLoop.isCurrent {
            receipt.isForPoster.store(true, ordering: .relaxed)
        }
        let delivery = Delivery(notification, self)
        switch capacity.kind {
        case .unlimited: break
        case .bounded(let limit, let policy):
            if !makeRoom(for: delivery, notification, limit, policy) { return }
        case .coalescing(let mask):
            let merges = waiting.withLock { waiting in
                if waiting.entries.contains(where: { $0.saysTheSame(as: notification, mask) }) { return true }
                waiting.entries.append(Entry(delivery, notification))
                return false
            }
            if merges {
                _ = delivery.accountFor()
                return
            }
        }
        redirector.send(delivery)
    }

    /// Enters a delivery among those that wait.
    ///
    /// - Returns: False if it was dropped instead.
    private func makeRoom(
        for delivery: Delivery, _ notification: Notification, _ limit: Int,
        _ policy: NotificationRedirector.Capacity.Policy
    ) -> Bool {
        let entry = Entry(delivery, notification)
        let deadline: ContinuousClock.Instant? =
            if case .block(let duration) = policy { .now + duration } else { nil }
        while true {
            let gate = ThreadGate()
            let step: Step = waiting.withLock { waiting in
                if waiting.entries.count < limit || observation.isRemoved {
                    waiting.entries.append(entry)
                    return .enter
                }
                switch policy {
                case .dropNewest: return .dropNew
                case .dropOldest:
                    let oldest = waiting.entries.removeFirst().delivery
                    waiting.entries.append(entry)
                    return .dropOld(oldest)
                case .block:
                    if redirector.runLoop.isCurrent {
                        // The loop's own thread cannot wait for itself: its posts are taken beyond the limit.
                        waiting.entries.append(entry)
                        return .enter
                    }
                    waiting.gates.append(gate)
                    return .wait
                }
            }
            switch step {
            case .enter: return true
            case .dropOld(let oldest):
                if let oldest { drop(oldest) }
                return true
            case .dropNew:
                drop(delivery)
                return false
            case .wait:
                if gate.wait(until: deadline ?? .distantFuture) { continue }
                leaveLine(gate)
                drop(delivery)
                return false
            }
        }
    }

    private enum Step {
        case enter
        case dropNew
        case dropOld(Delivery?)
        case wait
    }

    /// A poster has waited long enough.
    private func leaveLine(_ gate: ThreadGate) {
        let next: ThreadGate? = waiting.withLock { waiting in
            if let index = waiting.gates.firstIndex(where: { $0 === gate }) {
                waiting.gates.remove(at: index)
                return nil
            }
            // It was let through at the same moment: its room is the next one's.
            return waiting.gates.isEmpty ? nil : waiting.gates.removeFirst()
        }
        next?.open()
    }

    private func drop(_ delivery: Delivery) {
        if delivery.accountFor() != nil { dropped.add(1, ordering: .relaxed) }
    }

    // MARK: - The loop's thread

    /// The delivery's turn has come.
    fileprivate func arrive(_ delivery: Delivery) {
        leave(ObjectIdentifier(delivery))
        guard let notification = delivery.accountFor() else { return }
        deliver(notification)
    }

    /// A delivery waits no more: there is room for another one.
    private func leave(_ id: ObjectIdentifier) {
        if case .unlimited = capacity.kind { return }
        let gate: ThreadGate? = waiting.withLock { waiting in
            // The first, unless posters have overtaken each other on the way here.
            if let index = waiting.entries.firstIndex(where: { $0.id == id }) {
                waiting.entries.remove(at: index)
            }
            return waiting.gates.isEmpty ? nil : waiting.gates.removeFirst()
        }
        gate?.open()
    }

    private func deliver(_ notification: Notification) {
        if observation.isRemoved { return }
        delivered.add(1, ordering: .relaxed)
        CallRecord.current.withPlace { observation.call(notification, in: $0) }
    }

    /// Takes note of what takes notifications for this.
    func isRegistered(as registration: Registration) {
        self.registration.withLock { $0 = registration }
        // The loop may have ended since.
        if observation.isRemoved { forget() }
    }

    // MARK: - The end

    /// Nobody is called any more, and nobody waits for room any more.
    func remove() {
        wasRemoved.store(true, ordering: .releasing)
        forget()
    }

    private func forget() {
        _ = observation.remove()
        let ended = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        ended?.end()
        let gates = waiting.withLock { waiting in
            defer { waiting.gates = [] }
            return waiting.gates
        }
        for gate in gates { gate.open() }
    }

    /// A delivery was let go of without having arrived: the loop has ended.
    fileprivate func lost(_ id: ObjectIdentifier) {
        leave(id)
        if wasRemoved.load(ordering: .acquiring) { return }
        undelivered.add(1, ordering: .relaxed)
        redirector.lost()
        forget()
    }
}

/// One notification on its way to one observer.
///
/// Held by the loop's queue alone.
final class Delivery: Sendable {
    private let observer: RedirectedObserver
    private let receipt: Receipt?

    /// It has been delivered, dropped or lost: whatever is left of it counts for nothing.
    private let isAccountedFor = Atomic<Bool>(false)

    /// `nonisolated(unsafe)`: taken out by the one who accounts for the delivery, and touched by nobody else.
    nonisolated(unsafe) private var notification: Notification?

    init(_ notification: Notification, _ observer: RedirectedObserver) {
        unsafe self.notification = notification
        self.observer = observer
        receipt = notification.receipt
        receipt?.enter()
    }

    var modes: [RunLoop.Mode] { observer.modes }

    /// Decides what becomes of the delivery.
    ///
    /// - Returns: The notification; nil if that was decided before.
    func accountFor() -> Notification? {
        if isAccountedFor.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        defer { unsafe notification = nil }
        return unsafe notification
    }

    func arrive() {
        observer.redirector.hasArrived()
        observer.arrive(self)
    }

    deinit {
        if accountFor() != nil {
            receipt?.wasLost.store(true, ordering: .relaxed)
            observer.lost(ObjectIdentifier(self))
        }
        receipt?.leave()
    }
}

/// The observation at the end of the way: its handler is the loop's, and is let go of there.
private final class RedirectedObservation: Observation, @unchecked Sendable {
    // `@unchecked Sendable`: nothing is added but a constant that is `Sendable`.
    private let runLoop: RunLoop

    init(_ runLoop: RunLoop, _ handler: @escaping (Notification) -> Void) {
        self.runLoop = runLoop
        super.init(sequence: 0, object: nil, handler: NotificationHandler(handler))
    }

    override func releaseHandler() {
        if runLoop.isCurrent { return super.releaseHandler() }
        // What a handler holds may belong to the loop's thread, and is destroyed there. If the thread has ended,
        // nobody is left whom it could disturb.
        if !runLoop.perform({ self.releaseHere() }) { super.releaseHandler() }
    }

    private func releaseHere() { super.releaseHandler() }
}

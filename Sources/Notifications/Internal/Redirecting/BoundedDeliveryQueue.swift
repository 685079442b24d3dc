internal import DequeModule
internal import RunLoops

/// The notifications that wait for an observer with a capacity; a value, under the observer's lock.
///
/// The notifications that wait have consecutive numbers. The loop is sent one delivery for each number, and a delivery
/// delivers everything up to its own number: a poster that has not sent its delivery yet holds up no later notification.
/// When the oldest is dropped for a new one, the others move up by one number, and the new one gets the last number. So the
/// new one needs no delivery of its own, and never more wait than the capacity allows.
///
/// For an unlimited observer only ``awaited`` is used.
struct BoundedDeliveryQueue {
    private var waiting = Deque<Notification>()
    /// The number of the notification that has waited longest.
    private var firstNumber = 0
    /// The keys of the notifications that wait for a coalescing observer.
    private var keys: Set<CoalescingKey> = []
    /// The deliveries to an unlimited observer that are on their way and that posters wait for.
    private var awaited: [ObjectIdentifier: Notification] = [:]
    /// The gates of the posters that wait for room.
    ///
    /// A poster that is let through and loses the race for the room rejoins at the back.
    private var gates = Deque<ThreadGate>()
    /// True once the observer was removed: nothing is accepted any more.
    private var isClosed = false

    /// The next step of a poster.
    enum Step {
        /// Send the loop the delivery with this number: the notification was accepted.
        case send(Int)
        /// Drop this notification, the oldest: the new one was accepted in its place.
        case dropOldest(Notification)
        /// Drop the new notification.
        case dropNew
        /// Do nothing: a notification that matches is waiting, and is delivered for this one too.
        case merged
        /// Wait at the gate, then offer the notification again.
        case wait
        /// Do nothing: the observer was removed while the post was under way.
        case removed
    }

    /// Offers a notification that a poster wants delivered.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - capacity: The capacity of the observer.
    ///   - gate: The gate at which the poster would wait; nil if it cannot wait.
    /// - Returns: The next step of the poster.
    mutating func offer(
        _ notification: Notification, _ capacity: NotificationRedirector.Capacity, _ gate: ThreadGate?
    ) -> Step {
        if isClosed { return .removed }
        switch capacity.kind {
        case .unlimited: break
        case .coalescing(let mask):
            if !mask.isEmpty && !keys.insert(mask.key(notification)).inserted { return .merged }
        case .bounded(let limit, let policy):
            if waiting.count < limit { break }
            switch policy {
            case .dropNewest: return .dropNew
            case .dropOldest:
                waiting.append(notification)
                return .dropOldest(waiting.removeFirst())
            case .block:
                guard let gate else { break }
                gates.append(gate)
                return .wait
            }
        }
        waiting.append(notification)
        return .send(firstNumber + waiting.count - 1)
    }

    /// A notification that a delivery delivers.
    struct Next {
        let notification: Notification
        /// The gate of the poster for which there is room now.
        let gate: ThreadGate?
        /// True if the delivery delivers nothing after it.
        let isLast: Bool
    }

    /// Takes out the next notification of a delivery that has arrived.
    ///
    /// - Parameters:
    ///   - number: The number of the delivery.
    ///   - capacity: The capacity of the observer.
    /// - Returns: The notification, or nil if the delivery has nothing left to deliver.
    mutating func next(upTo number: Int, _ capacity: NotificationRedirector.Capacity) -> Next? {
        if firstNumber > number { return nil }
        guard let notification = waiting.popFirst() else { return nil }
        firstNumber += 1
        var gate: ThreadGate?
        switch capacity.kind {
        case .unlimited: break
        case .coalescing(let mask): keys.remove(mask.key(notification))
        case .bounded(let limit, _): if waiting.count < limit { gate = gates.popFirst() }
        }
        return Next(notification: notification, gate: gate, isLast: firstNumber > number)
    }

    /// Takes a poster out that has stopped waiting.
    ///
    /// - Parameter gate: The gate at which it waited.
    /// - Returns: The gate of another poster, which gets the room if this one was let through at the same moment.
    mutating func leave(_ gate: ThreadGate) -> ThreadGate? {
        guard let index = gates.firstIndex(where: { $0 === gate }) else { return gates.popFirst() }
        gates.remove(at: index)
        return nil
    }

    /// Adds a delivery to an unlimited observer that a poster waits for.
    ///
    /// - Returns: False if the observer was removed, so that there is nothing to wait for.
    mutating func addAwaited(_ id: ObjectIdentifier, _ notification: Notification) -> Bool {
        if isClosed { return false }
        awaited[id] = notification
        return true
    }

    /// Removes a delivery that has ended.
    ///
    /// - Returns: False if the poster does not wait for it any more.
    mutating func removeAwaited(_ id: ObjectIdentifier) -> Bool { awaited.removeValue(forKey: id) != nil }

    /// The number of deliveries that posters wait for.
    var awaitedCount: Int { awaited.count }
    /// The number of posters that wait for room.
    var waitingPosterCount: Int { gates.count }

    /// Closes the queue: nothing is accepted any more, and deliveries that were sent find nothing.
    ///
    /// - Returns: The gates to open, and the notifications that were waiting, for the caller to release.
    mutating func close() -> (gates: [ThreadGate], notifications: [Notification]) {
        defer {
            self = BoundedDeliveryQueue()
            isClosed = true
        }
        // Not `Array(gates)`, which for an empty deque writes to the empty array that all threads share.
        return (gates.map { $0 }, waiting.map { $0 } + awaited.values.map { $0 })
    }
}

internal import DequeModule
internal import RunLoops

/// The notifications that wait, on a loop, for an observer whose capacity is not unlimited.
///
/// The observer's lock guards this value.
///
/// The notifications that wait have consecutive numbers. For each number, a poster sends the loop one delivery. The delivery hands
/// all waiting notifications up to its own number to the handler, so a poster that has not sent its delivery yet does not block
/// later notifications. When the oldest notification is dropped to make room for a new one, each remaining notification gets the
/// next lower number, and the new notification gets the last number. So the new notification needs no separate delivery, and there
/// are never more waiting notifications than the capacity allows.
///
/// For an unlimited observer, only ``awaited`` is used.
struct BoundedDeliveryQueue {
    private var waiting = Deque<Notification>()
    /// The number of the oldest waiting notification; if none waits, the number of the next notification.
    private var firstNumber = 0
    /// For an observer that coalesces, the keys of the notifications that wait.
    private var keys: Set<CoalescingKey> = []
    /// The notifications whose posters wait until the delivery has ended, keyed by the identity of the delivery.
    ///
    /// Only an unlimited observer has such notifications.
    private var awaited: [ObjectIdentifier: Notification] = [:]
    /// The gates at which posters wait for room, one for each poster.
    ///
    /// After its gate is opened, a poster can lose the race for the room. It then rejoins at the back of the queue.
    private var gates = Deque<ThreadGate>()
    /// True once the observer has been removed; nothing is accepted after that.
    private var isClosed = false

    /// The next step of a poster that has offered a notification to the queue.
    enum Step {
        /// The notification was accepted, and the poster sends the loop the delivery with this number.
        case send(Int)
        /// The new notification was accepted. The poster drops the oldest notification, which is the associated value.
        case dropOldest(Notification)
        /// There is no room, and the poster drops the new notification.
        case dropNew
        /// A matching notification is waiting, and the new one is merged with it, so the poster does nothing.
        case merged
        /// There is no room, and the poster waits at its gate, then offers the notification again.
        case wait
        /// The observer was removed while the post was under way, so the poster does nothing.
        case removed
    }

    /// Offers a notification of a poster to the queue.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - capacity: The capacity of the observer.
    ///   - gate: The gate at which the poster would wait; nil if the poster cannot wait.
    /// - Returns: The next step of the poster.
    mutating func offer(
        _ notification: Notification, _ capacity: NotificationCenter.Capacity, _ gate: ThreadGate?
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

    /// The next notification that a delivery hands to the handler.
    struct Next {
        let notification: Notification
        /// The gate of the next waiting poster if there is room for it now; nil if there is no room, or no poster waits.
        let gate: ThreadGate?
        /// True if this is the delivery's last notification.
        let isLast: Bool
    }

    /// Removes and returns the next notification for the handler, after a delivery has arrived.
    ///
    /// - Parameters:
    ///   - number: The number of the delivery.
    ///   - capacity: The capacity of the observer.
    /// - Returns: The notification, or nil if the delivery has nothing left to deliver.
    mutating func next(upTo number: Int, _ capacity: NotificationCenter.Capacity) -> Next? {
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

    /// Removes the gate of a poster that has stopped waiting for room.
    ///
    /// - Parameter gate: The gate at which the poster waited.
    /// - Returns: Nil if this poster's gate was not opened. If the gate was opened already, the next poster gets the room instead:
    ///   the result is that poster's gate, or nil if no other poster waits.
    mutating func leave(_ gate: ThreadGate) -> ThreadGate? {
        guard let index = gates.firstIndex(where: { $0 === gate }) else { return gates.popFirst() }
        gates.remove(at: index)
        return nil
    }

    /// Records that a poster waits for a delivery to an unlimited observer.
    ///
    /// - Returns: False if the observer was removed; the poster then does not wait.
    mutating func addAwaited(_ id: ObjectIdentifier, _ notification: Notification) -> Bool {
        if isClosed { return false }
        awaited[id] = notification
        return true
    }

    /// Removes the notification of an awaited delivery, because the delivery has ended.
    ///
    /// - Returns: False if the poster no longer waits for the delivery.
    mutating func removeAwaited(_ id: ObjectIdentifier) -> Bool { awaited.removeValue(forKey: id) != nil }

    /// The number of deliveries that posters wait for; only an unlimited observer has such deliveries.
    var awaitedCount: Int { awaited.count }
    /// The number of posters that wait for room.
    var waitingPosterCount: Int { gates.count }

    /// Closes the queue: it accepts no more notifications, and a delivery that arrives later has nothing to deliver.
    ///
    /// - Returns: The gates, which the caller opens, and the notifications, which the caller releases.
    mutating func close() -> (gates: [ThreadGate], notifications: [Notification]) {
        defer {
            self = BoundedDeliveryQueue()
            isClosed = true
        }
        // This is not `Array(gates)`, because for an empty deque that would write to the empty array that all threads share.
        return (gates.map { $0 }, waiting.map { $0 } + awaited.values.map { $0 })
    }
}

internal import DequeModule
internal import RunLoops

/// What waits for an observer on a loop whose capacity is limited: a value, under the observer's lock.
///
/// What waits has numbers, one after the other. The loop is given one turn for each number, and a turn delivers all up to its
/// own: a poster that has not yet sent its turn holds up nobody who has come later. Where the oldest is dropped for a new one,
/// all move up by one number, and the new one has the last turn. So that needs no new turn, and no more is kept than may wait.
struct DeliveryAccount {
    private var waiting = Deque<Notification>()
    /// The number of the one that has waited longest.
    private var firstNumber = 0
    /// Of a coalescing observer: what those that wait have in common with others.
    private var kinds: Set<Kind> = []
    /// Of an unlimited observer: those on their way that a poster waits for.
    private var awaited: [ObjectIdentifier: Notification] = [:]
    /// Posters that wait for room.
    ///
    /// Who is let through and finds that another one has it comes last again.
    private var gates = Deque<ThreadGate>()
    /// The observer was removed, and nothing is taken in any more.
    private var isClosed = false

    private struct Kind: Hashable {
        let name: Notification.Name?
        let sender: ObjectIdentifier?

        init(_ notification: Notification, _ mask: NotificationQueue.NotificationCoalescing) {
            name = mask.contains(.onName) ? notification.name : nil
            sender = mask.contains(.onSender) ? notification.sender : nil
        }
    }

    /// What the poster does next.
    enum Step {
        /// It was taken in: give the loop the turn of this number.
        case giveTurn(Int)
        /// It was taken in for this one, which is dropped.
        case drop(Notification)
        /// It is dropped itself.
        case dropNew
        /// One like it waits, and is delivered for it.
        case merged
        /// Wait at the gate, and offer it again.
        case wait
        /// Nobody wants it: the observer was removed while the post was under way.
        case unwanted
    }

    /// A poster wants a notification delivered.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - capacity: How much may wait.
    ///   - gate: Where the poster would wait; nil if it cannot.
    /// - Returns: What the poster does next.
    mutating func offer(
        _ notification: Notification, _ capacity: NotificationRedirector.Capacity, _ gate: ThreadGate?
    ) -> Step {
        if isClosed { return .unwanted }
        switch capacity.kind {
        case .unlimited: break
        case .coalescing(let mask):
            if !mask.isEmpty && !kinds.insert(Kind(notification, mask)).inserted { return .merged }
        case .bounded(let limit, let policy):
            if waiting.count < limit { break }
            switch policy {
            case .dropNewest: return .dropNew
            case .dropOldest:
                waiting.append(notification)
                return .drop(waiting.removeFirst())
            case .block:
                guard let gate else { break }
                gates.append(gate)
                return .wait
            }
        }
        waiting.append(notification)
        return .giveTurn(firstNumber + waiting.count - 1)
    }

    /// What a turn delivers.
    struct Next {
        let notification: Notification
        /// The gate of the poster for which there is room now.
        let gate: ThreadGate?
        /// Whether the turn delivers nothing after it.
        let isLast: Bool
    }

    /// A turn has come, and delivers what it has not delivered yet, one after the other.
    ///
    /// - Parameters:
    ///   - turn: The turn's number.
    ///   - capacity: How much may wait.
    /// - Returns: What it delivers next; nil if it has delivered all.
    mutating func next(of turn: Int, _ capacity: NotificationRedirector.Capacity) -> Next? {
        if firstNumber > turn { return nil }
        guard let notification = waiting.popFirst() else { return nil }
        firstNumber += 1
        var gate: ThreadGate?
        switch capacity.kind {
        case .unlimited: break
        case .coalescing(let mask): kinds.remove(Kind(notification, mask))
        case .bounded(let limit, _): if waiting.count < limit { gate = gates.popFirst() }
        }
        return Next(notification: notification, gate: gate, isLast: firstNumber > turn)
    }

    /// A poster has waited long enough.
    ///
    /// - Parameter gate: Where it waited.
    /// - Returns: Another one's gate, if it was let through at the same moment: its room is the next one's.
    mutating func leave(_ gate: ThreadGate) -> ThreadGate? {
        guard let index = gates.firstIndex(where: { $0 === gate }) else { return gates.popFirst() }
        gates.remove(at: index)
        return nil
    }

    /// A poster waits for a delivery.
    ///
    /// - Returns: False if the observer was removed, so that it need not.
    mutating func addAwaited(_ id: ObjectIdentifier, _ notification: Notification) -> Bool {
        if isClosed { return false }
        awaited[id] = notification
        return true
    }

    /// The delivery is over.
    ///
    /// - Returns: False if the poster does not wait for it any more.
    mutating func removeAwaited(_ id: ObjectIdentifier) -> Bool { awaited.removeValue(forKey: id) != nil }

    var awaitedCount: Int { awaited.count }
    var waitingPosterCount: Int { gates.count }

    /// Nobody is called any more, and nobody needs to wait.
    ///
    /// The turns that were given find nothing.
    ///
    /// - Returns: Whom to let through, and what waits, for the caller to let go of.
    mutating func close() -> (gates: [ThreadGate], notifications: [Notification]) {
        defer {
            self = DeliveryAccount()
            isClosed = true
        }
        // Not `Array(gates)`: of an empty deque it writes to the empty array that all threads share.
        return (gates.map { $0 }, waiting.map { $0 } + awaited.values.map { $0 })
    }
}

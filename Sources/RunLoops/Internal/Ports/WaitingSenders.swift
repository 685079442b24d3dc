/// The wait queue of a full port: the senders that wait for room, first come, first served.
///
/// Each operation takes constant time and allocates nothing.
@usableFromInline
struct WaitingSenders: Sendable {
    /// A waiting thread or task, with its unsent messages; or a handler that is called when there is room.
    ///
    /// `@unchecked Sendable`: the lock of the wait queue guards `state`; the links belong to the ``List`` that the sender is
    /// in.
    @usableFromInline
    final class Sender: @unchecked Sendable {
        /// The messages to send; nil for a handler, which sends none.
        let chain: Mailbox.Chain?
        /// Called while no lock is held, after another thread has removed the sender from the wait queue.
        let notify: @Sendable (Outcome) -> Void

        fileprivate var state = State.outside
        fileprivate var previous: Sender?
        fileprivate var next: Sender?

        init(_ chain: Mailbox.Chain?, notify: @escaping @Sendable (Outcome) -> Void) {
            self.chain = chain
            self.notify = notify
        }
    }

    /// The state of a sender.
    fileprivate enum State {
        /// The sender has not joined the wait queue, or has left the queue on its own.
        case outside
        case inLine
        /// Another thread has removed the sender from the wait queue.
        case takenOut(Outcome)
    }

    /// The reason for which another thread has removed a sender from the wait queue.
    enum Outcome {
        case sent
        case closed
        /// The sender would have waited forever.
        ///
        /// The sender still owns its messages.
        case refused
    }

    private var line = List()

    var count: Int { line.count }
    var first: Sender? { line.first }

    mutating func append(_ sender: Sender) {
        sender.state = .inLine
        line.append(sender)
    }

    /// Removes and returns the first sender, because its wait is over.
    ///
    /// If the sender is a thread or a task, its messages were queued. If the sender is a handler, the port has room now.
    mutating func firstWasSent() -> Sender {
        guard let sender = line.popFirst() else {
            preconditionFailure("a sender that has sent was in the line")
        }
        sender.state = .takenOut(.sent)
        return sender
    }

    /// Removes all senders, because the port has ended.
    mutating func closeAll() -> List {
        var all = List()
        while let sender = line.popFirst() {
            sender.state = .takenOut(.closed)
            all.append(sender)
        }
        return all
    }

    func contains(_ sender: Sender) -> Bool {
        switch sender.state {
        case .inLine: true
        case .outside, .takenOut: false
        }
    }

    /// Removes a sender whose wait would never end, and marks the sender as refused.
    ///
    /// - Returns: False if the sender was not in the wait queue.
    mutating func refuse(_ sender: Sender) -> Bool {
        if !contains(sender) { return false }
        line.remove(sender)
        sender.state = .takenOut(.refused)
        return true
    }

    /// Removes a sender that stops waiting.
    ///
    /// - Returns: The reason for which another thread has already removed the sender; nil if no other thread has removed it. If the
    ///   result is nil, the sender still owns its messages.
    mutating func leave(_ sender: Sender) -> Outcome? {
        switch sender.state {
        case .takenOut(let outcome): return outcome
        case .inLine: line.remove(sender)
        case .outside: break
        }
        sender.state = .outside
        return nil
    }
}

extension WaitingSenders {
    /// A doubly linked list of senders.
    ///
    /// Each sender is in at most one list at a time.
    struct List {
        private(set) var first: Sender?
        private var last: Sender?
        private(set) var count = 0

        mutating func append(_ sender: Sender) {
            sender.previous = last
            if let last { last.next = sender } else { first = sender }
            last = sender
            count += 1
        }

        mutating func popFirst() -> Sender? {
            guard let sender = first else { return nil }
            remove(sender)
            return sender
        }

        /// Removes a sender that is in this list.
        mutating func remove(_ sender: Sender) {
            if let previous = sender.previous { previous.next = sender.next } else { first = sender.next }
            if let next = sender.next { next.previous = sender.previous } else { last = sender.previous }
            sender.previous = nil
            sender.next = nil
            count -= 1
        }

        /// Removes all senders, and notifies each.
        mutating func notifyAll(_ outcome: Outcome) {
            while let sender = popFirst() { sender.notify(outcome) }
        }
    }
}

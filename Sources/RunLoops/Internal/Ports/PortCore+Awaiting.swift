// Senders that suspend their task until a port has room.
//
// The functions that suspend take the caller's isolation as a parameter, as in
// ``OneShot/value(before:timedOut:cancelled:isolation:_:)``.

extension PortCore {
    @inlinable
    func postAwaiting<Message: Sendable>(
        _ message: consuming Message, before deadline: ContinuousClock.Instant?,
        isolation: isolated (any Actor)?
    ) async throws(PortSendError<Message>) {
        if Message.self == Void.self { return try post(message) }
        let node = Node.make()
        node.store(message)
        if let refusal = await sendAwaiting(node, before: deadline, isolation: isolation) {
            throw takeBack(node, refusal)
        }
    }

    @inlinable
    func postAwaiting<Message: Sendable>(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant?,
        isolation: isolated (any Actor)?
    ) async throws(PortSendError<Message>) {
        if Message.self == Void.self { return try post(contentsOf: messages, before: deadline) }
        // The collection is iterated once, and its count is never read, for the reason given in `post(contentsOf:before:)`.
        var rest = messages.makeIterator()
        var room = 0
        while room == 0 {
            let most = roomAtOnce()
            room = most
            var newest: Node?
            while let node = Node.packing(&rest, within: &room) {
                node.next = newest
                newest = node
            }
            if let refusal = await sendAwaiting(newest, most - room, before: deadline, isolation: isolation) {
                throw PortSendError(self, refusal, PortCore.takeBack(newest) + IteratorSequence(rest))
            }
        }
    }

    /// Queues one message; if the port has no room for it, suspends the task until there is room or the deadline passes.
    ///
    /// - Returns: Nil if the message was queued; otherwise the reason for the refusal. In that case the caller still owns the node.
    @usableFromInline
    func sendAwaiting(
        _ node: Node, before deadline: ContinuousClock.Instant?, isolation: isolated (any Actor)?
    ) async -> Refusal? {
        await sendAwaiting(Mailbox.Chain(node), before: deadline, isolation: isolation)
    }

    /// Queues several messages together, or none of them.
    ///
    /// The task is suspended until there is room for all messages, or until the deadline passes. The nodes of the messages are
    /// linked from the newest to the oldest.
    @usableFromInline
    func sendAwaiting(
        _ newest: Node?, _ count: Int, before deadline: ContinuousClock.Instant?,
        isolation: isolated (any Actor)?
    ) async -> Refusal? {
        guard let newest else { return nil }
        return await sendAwaiting(
            Mailbox.Chain(newest: newest, count: count), before: deadline, isolation: isolation)
    }

    private func sendAwaiting(
        _ chain: Mailbox.Chain, before deadline: ContinuousClock.Instant?, isolation: isolated (any Actor)?
    ) async -> Refusal? {
        noteSend(chain)
        switch trySend(chain) {
        case .sent: return nil
        case .closed: return .invalid
        case .full:
            return await awaitRoom(chain, Moment(ofDeadline: deadline), isolation: isolation)
        }
    }

    /// The reason for which a waiting task resumes.
    private enum Wake: Sendable {
        /// Another thread has removed the sender from the wait queue.
        case takenOut
        /// The port had ended when the sender was about to join the wait queue.
        case closed
        case timedOut
        case cancelled
    }

    /// Puts the task in the port's wait queue, and suspends it until there is room for the messages of `chain`.
    ///
    /// If the deadline has passed or the task was cancelled before the call, the task tries once to queue the messages, and does
    /// not suspend.
    @inline(never)
    private func awaitRoom(
        _ chain: Mailbox.Chain, _ deadline: Moment, isolation: isolated (any Actor)?
    ) async -> Refusal? {
        let wasCancelled = Task.isCancelled
        if wasCancelled || deadline != .never && deadline <= Moment.now() {
            let refusal = sendOnceInLine(chain)
            return wasCancelled && refusal == .timedOut ? .cancelled : refusal
        }
        let outcome = OneShot<Wake>()
        let sender = WaitingSenders.Sender(chain) { _ in outcome.decide(.takenOut) }
        let wake = await outcome.value(
            before: deadline, timedOut: .timedOut, cancelled: .cancelled, isolation: isolation
        ) {
            if joinLine(sender) { queue.lookForRoomAgain() } else { outcome.decide(.closed) }
        }
        // The wait queue decides the outcome, not `wake`: another thread can have queued the messages since the task was cancelled
        // or its deadline passed.
        switch queue.leaveLine({ $0.leave(sender) }) {
        case .sent: return nil
        case .closed: return .invalid
        case .refused: return .wouldDeadlock
        case nil: break
        }
        switch wake {
        case .closed: return .invalid
        case .timedOut: return .timedOut
        case .cancelled: return .cancelled
        case .takenOut: preconditionFailure("a sender that was taken out of the line knows the outcome")
        }
    }

    /// Registers a callback for the moment at which there is room for a message or the port has ended.
    ///
    /// The loop of the callback then calls it.
    func addRoomHandler(_ callback: LoopCallback) {
        Fork.check("Port.addRoomHandler")
        // A port without a limit and a signal port always have room.
        if queue.limit == 0 || isSignalPort { return callback.schedule() }
        let sender = WaitingSenders.Sender(nil) { _ in callback.schedule() }
        if joinLine(sender) { queue.lookForRoomAgain() } else { callback.schedule() }
    }

    /// Puts a sender at the end of the wait queue.
    ///
    /// - Returns: False if the port has ended.
    func joinLine(_ sender: WaitingSenders.Sender) -> Bool {
        queue.changeLine { line, pump in
            if isClosed { return false }
            queue.append(sender, to: &line, &pump)
            return true
        }
    }
}

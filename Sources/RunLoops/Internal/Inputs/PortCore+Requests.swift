internal import Synchronization

// A message that is answered, for a port and for a right alike.

extension PortCore {
    /// Sends a message with a right to reply, and blocks until it is decided what becomes of it.
    func request<Message: Sendable, Answer: Sendable>(
        before deadline: ContinuousClock.Instant?, _ origin: SourceLocation,
        _ message: (ReplyRight<Answer>) -> Message
    ) throws(RequestError) -> Answer {
        let end = try beginRequest(before: deadline)
        if isReceivedHere { throw .wouldDeadlock(.port(self.origin)) }
        let reply = AwaitedReply<Answer>()
        let gate = ThreadGate()
        reply.begin(.thread(gate))
        // Made before the wait begins: what makes it is the user's, and may itself wait.
        let node = makeRequest(message, ReplyRight(reply, self, origin))
        let wait = ThreadWait(
            RunLoop.existing, ThreadWait.holdingsHere(), in: "Port.request", origin,
            refuse: { reply.decide(.failure(.circle($0))) },
            for: { reply.isDecided ? [] : [self.receiver] })
        if let circle = wait.begin() {
            destroyUnsent(node)
            throw .circle(circle)
        }
        let sender = submit(node) { reply.decide(.failure(.invalid)) }
        if !gate.wait(until: end) { reply.decide(.failure(.timedOut)) }
        wait.end()
        if let sender { withdraw(sender) }
        return try outcome(of: reply)
    }

    /// Sends a message with a right to reply, and awaits what becomes of it.
    ///
    /// The isolation is the caller's, and a parameter, because the closures below are isolated to what they hold only: else
    /// each would go to the default executor's threads and back.
    func request<Message: Sendable, Answer: Sendable>(
        before deadline: ContinuousClock.Instant?, _ origin: SourceLocation,
        isolation: isolated (any Actor)?, _ message: (ReplyRight<Answer>) -> Message
    ) async throws(RequestError) -> Answer {
        let end = try beginRequest(before: deadline)
        let reply = AwaitedReply<Answer>()
        // Not by a timer of the loop: that one may be the one that hangs.
        let alarm: Task<Void, Never>? =
            if end == .never { nil } else {
                Task {
                    do { try await Task.sleep(until: end.instant, clock: .continuous) } catch { return }
                    reply.decide(.failure(.timedOut))
                }
            }
        var sender: WaitingSenders.Sender?
        await withTaskCancellationHandler {
            _ = isolation
            await withCheckedContinuation { continuation in
                reply.begin(.task(continuation))
                // Cancelled already, or too late.
                if reply.isDecided { return }
                let node = makeRequest(message, ReplyRight(reply, self, origin))
                sender = submit(node) { reply.decide(.failure(.invalid)) }
            }
        } onCancel: {
            reply.decide(.failure(.cancelled))
        }
        alarm?.cancel()
        if let sender { withdraw(sender) }
        return try outcome(of: reply)
    }

    private func beginRequest(before deadline: ContinuousClock.Instant?) throws(RequestError) -> Moment {
        Fork.check("Port.request")
        if isClosed { throw .invalid(.port(origin)) }
        guard let deadline else { return .never }
        let end = Moment(deadline)
        if end <= Moment.now() { throw .timedOut(.port(origin)) }
        return end
    }

    /// The answer, or an error that names the port.
    private func outcome<Answer: Sendable>(of reply: AwaitedReply<Answer>) throws(RequestError) -> Answer {
        do { return try reply.takeOutcome() } catch { throw error.about(.port(origin)) }
    }

    /// A node that carries what a requester sends.
    private func makeRequest<Message: Sendable, Answer: Sendable>(
        _ message: (ReplyRight<Answer>) -> Message, _ reply: ReplyRight<Answer>
    ) -> Node {
        let node = Node.make()
        node.store(message(reply))
        return node
    }

    /// Queues a message, or puts it in the line of those who wait for room; nobody is blocked.
    ///
    /// - Parameters:
    ///   - node: The message. One that is refused is destroyed.
    ///   - end: Called if the port has ended, or ends while the message is in the line.
    /// - Returns: What is in the line, for ``withdraw(_:)``; nil if nothing is.
    private func submit(_ node: Node, ifEnded end: @escaping @Sendable () -> Void) -> WaitingSenders.Sender? {
        if merges {
            // There is nothing to carry: what the requester's code did with the right decides.
            if ring() != nil { end() }
            destroyUnsent(node)
            return nil
        }
        let chain = Mailbox.Chain(node)
        if limit == 0 || waitingCount.load(ordering: .relaxed) == 0 {
            switch push(chain) {
            case .queued: return nil
            case .queuedToArmed(let signal):
                if let signal { ReadyNode.send(signal) }
                return nil
            case .closed:
                end()
                destroyUnsent(node)
                return nil
            case .full, .raced: break
            }
        }
        let sender = WaitingSenders.Sender(chain) { outcome in
            switch outcome {
            case .sent: break
            case .closed, .refused: end()
            }
        }
        var pump = Pump()
        let isInLine = waitingSenders.withLock { waiting in
            if isClosed { return false }
            waiting.append(sender)
            waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
            pumpLocked(&waiting, &pump)
            return true
        }
        pump.finish()
        if isInLine {
            lookForRoomAgain()
            return sender
        }
        end()
        destroyUnsent(node)
        return nil
    }

    /// Takes out of the line what has not been queued, and destroys it.
    private func withdraw(_ sender: WaitingSenders.Sender) {
        let outcome = waitingSenders.withLock { waiting in
            defer { waitingCount.store(waiting.count, ordering: .sequentiallyConsistent) }
            return waiting.leave(sender)
        }
        switch outcome {
        case .sent: break
        case .closed, .refused, nil: destroyUnsent(sender.chain.newest)
        }
    }

    /// Destroys a message that nobody gets, and with it the right in it.
    private func destroyUnsent(_ node: Node) {
        destroyMessages(of: node)
        PortCore.discard(node)
    }

    func countLateReply() { lateReplies.add(1, ordering: .relaxed) }

    var lateReplyCount: Int { lateReplies.load(ordering: .relaxed) }
}

// Requests, which are messages with answers, for ports and rights.

extension PortCore {
    /// Sends a message with a right to reply, and blocks until the answer arrives or the request fails.
    func request<Message: Sendable, Answer: Sendable>(
        before deadline: ContinuousClock.Instant?, _ origin: SourceLocation,
        _ message: (ReplyRight<Answer>) -> Message
    ) throws(RequestError) -> Answer {
        let end = try beginRequest(before: deadline)
        if isReceivedHere { throw .wouldDeadlock(.port(self.origin)) }
        let reply = OneShot<Result<Answer, RequestError>>()
        // The message is made before the wait begins, because the user's closure that makes it can itself wait.
        let node = makeRequest(message, ReplyRight(reply, self, origin))
        let wait = ThreadWait(
            RunLoop.existing, ThreadWait.heldTargetsHere(), in: "Port.request", origin,
            refuse: { reply.decide(.failure(.circle($0))) },
            for: { reply.isDecided ? [] : [self.waitTarget] })
        if let circle = wait.begin() {
            destroyUnsent(node)
            throw .circle(circle)
        }
        let sender = submit(node) { reply.decide(.failure(.invalid)) }
        if !reply.wait(until: end) { reply.decide(.failure(.timedOut)) }
        wait.end()
        if let sender { withdraw(sender) }
        return try outcome(reply.take())
    }

    /// Sends a message with a right to reply, and suspends the task until the answer arrives or the request fails.
    ///
    /// The caller's isolation is a parameter, as in ``OneShot/value(before:timedOut:cancelled:isolation:_:)``.
    func request<Message: Sendable, Answer: Sendable>(
        before deadline: ContinuousClock.Instant?, _ origin: SourceLocation,
        isolation: isolated (any Actor)?, _ message: (ReplyRight<Answer>) -> Message
    ) async throws(RequestError) -> Answer {
        let end = try beginRequest(before: deadline)
        let reply = OneShot<Result<Answer, RequestError>>()
        var sender: WaitingSenders.Sender?
        let result = await reply.value(
            before: end, timedOut: .failure(.timedOut), cancelled: .failure(.cancelled), isolation: isolation
        ) {
            let node = makeRequest(message, ReplyRight(reply, self, origin))
            sender = submit(node) { reply.decide(.failure(.invalid)) }
        }
        if let sender { withdraw(sender) }
        return try outcome(result)
    }

    private func beginRequest(before deadline: ContinuousClock.Instant?) throws(RequestError) -> Moment {
        Fork.check("Port.request")
        if isClosed { throw .invalid(.port(origin)) }
        guard let deadline else { return .never }
        let end = Moment(deadline)
        if end <= Moment.now() { throw .timedOut(.port(origin)) }
        return end
    }

    /// Returns the answer, or throws an error that names the port.
    private func outcome<Answer: Sendable>(_ result: Result<Answer, RequestError>) throws(RequestError)
        -> Answer
    {
        do { return try result.get() } catch { throw error.about(.port(origin)) }
    }

    /// Makes a node with the requester's message, which contains the right to reply.
    private func makeRequest<Message: Sendable, Answer: Sendable>(
        _ message: (ReplyRight<Answer>) -> Message, _ reply: ReplyRight<Answer>
    ) -> Node {
        let node = Node.make()
        node.store(message(reply))
        return node
    }

    /// Queues the message of a request, or puts its sender in the wait queue if the port is full.
    ///
    /// The call never blocks.
    ///
    /// - Parameters:
    ///   - node: The node with the message. If the port refuses the message, the node is destroyed.
    ///   - end: Called if the port has ended, or ends while the sender is in the wait queue.
    /// - Returns: The sender in the wait queue, for ``withdraw(_:)``; nil if the message was queued or refused.
    private func submit(_ node: Node, ifEnded end: @escaping @Sendable () -> Void) -> WaitingSenders.Sender? {
        if isSignalPort {
            // A signal carries no message, so the right to reply is not sent. Either the requester's code has used the right
            // already, or the destruction of the right decides the outcome.
            if ring() != nil { end() }
            destroyUnsent(node)
            return nil
        }
        let chain = Mailbox.Chain(node)
        switch trySend(chain) {
        case .sent: return nil
        case .closed:
            end()
            destroyUnsent(node)
            return nil
        case .full: break
        }
        let sender = WaitingSenders.Sender(chain) { outcome in
            switch outcome {
            case .sent: break
            case .closed, .refused: end()
            }
        }
        if joinLine(sender) {
            queue.lookForRoomAgain()
            return sender
        }
        end()
        destroyUnsent(node)
        return nil
    }

    /// Removes the sender of a request from the wait queue, because the request has succeeded or failed.
    ///
    /// If the sender's message was not queued, the message is destroyed.
    private func withdraw(_ sender: WaitingSenders.Sender) {
        switch queue.leaveLine({ $0.leave(sender) }) {
        case .sent: break
        case .closed, .refused, nil:
            guard let chain = sender.chain else { preconditionFailure("a request waits with its message") }
            destroyUnsent(chain.newest)
        }
    }

    /// Destroys an unsent message, together with the right to reply that the message contains.
    private func destroyUnsent(_ node: Node) {
        destroyMessages(of: node)
        PortCore.discard(node)
    }
}

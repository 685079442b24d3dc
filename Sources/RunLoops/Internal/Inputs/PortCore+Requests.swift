// A message that is answered, for a port and for a right alike.

extension PortCore {
    /// Sends a message with a right to reply, and blocks until it is decided what becomes of it.
    func request<Message: Sendable, Answer: Sendable>(
        before deadline: ContinuousClock.Instant?, _ origin: SourceLocation,
        _ message: (ReplyRight<Answer>) -> Message
    ) throws(RequestError) -> Answer {
        let end = try beginRequest(before: deadline)
        if isReceivedHere { throw .wouldDeadlock(.port(self.origin)) }
        let reply = OneShot<Result<Answer, RequestError>>()
        // Made before the wait begins: what makes it is the user's, and may itself wait.
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

    /// Sends a message with a right to reply, and awaits what becomes of it.
    ///
    /// The isolation is the caller's, and a parameter, because the closures below are isolated to what they hold only: else
    /// each would go to the default executor's threads and back.
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

    /// A node that carries what a requester sends.
    private func makeRequest<Message: Sendable, Answer: Sendable>(
        _ message: (ReplyRight<Answer>) -> Message, _ reply: ReplyRight<Answer>
    ) -> Node {
        let node = PortCore.makeNode()
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
        if isSignalPort {
            // There is nothing to carry: what the requester's code did with the right decides.
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
        let isInLine = queue.changeLine { line, pump in
            if isClosed { return false }
            queue.append(sender, to: &line, &pump)
            return true
        }
        if isInLine {
            queue.lookForRoomAgain()
            return sender
        }
        end()
        destroyUnsent(node)
        return nil
    }

    /// Takes out of the line what has not been queued, and destroys it.
    private func withdraw(_ sender: WaitingSenders.Sender) {
        switch queue.leaveLine({ $0.leave(sender) }) {
        case .sent: break
        case .closed, .refused, nil: destroyUnsent(sender.chain.newest)
        }
    }

    /// Destroys a message that nobody gets, and with it the right in it.
    private func destroyUnsent(_ node: Node) {
        destroyMessages(of: node)
        PortCore.discard(node)
    }
}

// Requests, which are messages with answers, for ports and rights.
//
// What depends on the type of the answer is inlinable, so that it needs no metadata.

extension PortCore {
    /// Sends a message with a right to reply, and blocks until the answer arrives or the request fails.
    @inlinable
    func request<Message: Sendable, Reply: Sendable>(
        before deadline: ContinuousClock.Instant?, _ origin: SourceLocation,
        _ message: (ReplyRight<Reply>) -> Message
    ) throws(RequestError) -> Reply {
        let end = Moment(ofDeadline: deadline)
        try beginBlockingRequest(before: end)
        let reply = OneShot<Result<Reply, RequestError>>()
        // The message is made before the wait begins, because the user's closure that makes it can itself wait.
        let node = Node.make()
        node.store(message(ReplyRight(reply, self, origin)))
        try send(node, blockingFor: reply, before: end, origin) { reply.decide(.failure($0)) }
        return try outcome(reply.take())
    }

    /// Sends a message with a right to reply, and suspends the task until the answer arrives or the request fails.
    ///
    /// The caller's isolation is a parameter, as in `Decision.suspend`.
    @inlinable
    func request<Message: Sendable, Reply: Sendable>(
        before deadline: ContinuousClock.Instant?, _ origin: SourceLocation,
        isolation: isolated (any Actor)?, _ message: (ReplyRight<Reply>) -> Message
    ) async throws(RequestError) -> Reply {
        let end = Moment(ofDeadline: deadline)
        try beginRequest(before: end)
        let reply = OneShot<Result<Reply, RequestError>>()
        var sender: WaitingSenders.Sender?
        let result = await reply.value(
            before: end, timedOut: .failure(RequestError(.timedOut)),
            cancelled: .failure(RequestError(.cancelled)), isolation: isolation
        ) {
            let node = Node.make()
            node.store(message(ReplyRight(reply, self, origin)))
            sender = submit(node) { reply.decide(.failure($0)) }
        }
        if let sender { withdraw(sender) }
        return try outcome(result)
    }

    /// Returns the answer, or throws an error that names the port.
    @inlinable
    func outcome<Reply: Sendable>(_ result: Result<Reply, RequestError>) throws(RequestError) -> Reply {
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw about(error)
        }
    }

    @usableFromInline
    func about(_ error: RequestError) -> RequestError { error.about("port made at \(origin)") }

    /// Throws an error if the port has ended or the deadline has passed.
    @usableFromInline
    func beginRequest(before end: Moment) throws(RequestError) {
        Fork.check("Port.request")
        if isClosed { throw about(RequestError(.invalid)) }
        if end != .never && end <= Moment.now() { throw about(RequestError(.timedOut)) }
    }

    @usableFromInline
    func beginBlockingRequest(before end: Moment) throws(RequestError) {
        try beginRequest(before: end)
        if isReceivedHere { throw about(RequestError(.wouldDeadlock)) }
    }

    /// Sends the message of a request, and blocks the thread until the request is decided.
    ///
    /// - Parameters:
    ///   - node: The node with the message.
    ///   - reply: The decision to wait for.
    ///   - end: The time at which the request fails.
    ///   - origin: The call of `request`.
    ///   - fail: Decides that the request has failed; returns false if it was decided before.
    /// - Throws: `RequestError` if the wait would close a circle of threads that wait for each other.
    @usableFromInline
    func send(
        _ node: Node, blockingFor reply: Decision, before end: Moment, _ origin: SourceLocation,
        _ fail: @escaping @Sendable (RequestError) -> Bool
    ) throws(RequestError) {
        let wait = RequestWait(self, reply, origin, fail)
        if let circle = wait.begin() {
            destroyUnsent(node)
            throw RequestError(circle)
        }
        let sender = submit(node, ifEnded: fail)
        // If the answer comes just now, it is perhaps not stored yet.
        if !reply.wait(until: end) && !fail(RequestError(.timedOut)) { reply.wait() }
        wait.end()
        if let sender { withdraw(sender) }
    }

    /// Queues the message of a request, or puts its sender in the wait queue if the port is full.
    ///
    /// The call never blocks.
    ///
    /// - Parameters:
    ///   - node: The node with the message. If the port refuses the message, the node is destroyed.
    ///   - fail: Called with the reason if the port has ended, or ends while the sender is in the wait queue.
    /// - Returns: The sender in the wait queue, for ``withdraw(_:)``; nil if the message was queued or refused.
    @usableFromInline
    func submit(
        _ node: Node, ifEnded fail: @escaping @Sendable (RequestError) -> Bool
    ) -> WaitingSenders.Sender? {
        if isSignalPort {
            // A signal carries no message, so the right to reply is not sent. Either the requester's code has used the right
            // already, or the destruction of the right decides the outcome.
            if ring() != nil { _ = fail(RequestError(.invalid)) }
            destroyUnsent(node)
            return nil
        }
        let chain = Mailbox.Chain(node)
        switch trySend(chain) {
        case .sent: return nil
        case .closed:
            _ = fail(RequestError(.invalid))
            destroyUnsent(node)
            return nil
        case .full: break
        }
        let sender = WaitingSenders.Sender(chain) { outcome in
            switch outcome {
            case .sent: break
            case .closed, .refused: _ = fail(RequestError(.invalid))
            }
        }
        if joinLine(sender) {
            queue.lookForRoomAgain()
            return sender
        }
        _ = fail(RequestError(.invalid))
        destroyUnsent(node)
        return nil
    }

    /// Removes the sender of a request from the wait queue, because the request has succeeded or failed.
    ///
    /// If the sender's message was not queued, the message is destroyed.
    @usableFromInline
    func withdraw(_ sender: WaitingSenders.Sender) {
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

/// The wait of a thread for the answer of a request.
///
/// It has no closures of its own, because each one would take memory in each request.
private final class RequestWait: ThreadWait, @unchecked Sendable {
    private let port: PortCore
    private let reply: Decision
    private let fail: @Sendable (RequestError) -> Bool

    init(
        _ port: PortCore, _ reply: Decision, _ origin: SourceLocation,
        _ fail: @escaping @Sendable (RequestError) -> Bool
    ) {
        self.port = port
        self.reply = reply
        self.fail = fail
        super.init(RunLoop.existing, ThreadWait.heldTargetsHere(), in: "Port.request", origin) { [] }
    }

    override func stillWaitsFor() -> [WaitTarget] { reply.isDecided ? [] : [port.waitTarget] }

    override var waitsForItself: Bool { !reply.isDecided && heldTargets.contains(port.waitTarget) }

    override func refuse(_ circle: WaitCircle) -> Bool { fail(RequestError(circle)) }
}

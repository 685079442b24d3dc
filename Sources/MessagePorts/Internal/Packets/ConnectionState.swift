/// The state of one end of a connection, by which the end decides which frames are allowed to arrive, and how it handles each of
/// them.
///
/// A client sends a hello, and may send further packets without waiting for an answer. A server welcomes the client, or refuses it.
/// If the kernel can reject packets that carry descriptors, it rejects such packets of the client until the welcome. Messages go
/// both ways, requests go to the server, and replies go to the client. A frame that arrives out of place ends the connection.
struct ConnectionState: Sendable {
    /// The two ends of a connection.
    enum Role: Sendable {
        /// The end with the port. It receives messages and requests.
        case server
        /// The end that has looked up the port. It receives replies and messages.
        case client
    }

    private enum State {
        /// Nothing has arrived from the other end yet.
        case connecting
        /// The hello of the client, or the welcome of the server, has arrived at this end.
        case admitted
        /// Final: one of the two ends has sent the reason why it ends the connection.
        case refused(Frame.Refusal)
        /// Final: the connection ended without a reason given.
        case ended
    }

    /// The caller's next step, which it takes when it holds no lock.
    enum Action: Hashable, Sendable {
        /// The caller records the other end's limits, ``Frame/limits``. A server answers with its own limits.
        case greet
        /// The caller passes the message, or the request, to the handler.
        case deliver
        /// The caller passes the reply, or the notice that there will be no reply, to its requester. If no requester waits any
        /// longer, the caller counts the reply as late: a reply can arrive after its request was abandoned.
        case answer
        /// The other end has sent a refusal. The caller reports it to the users of the connection, and closes the connection.
        case close(Frame.Refusal)
        /// The frame breaks the rules. The caller counts it, sends the other end this reason if there is room, and closes the
        /// connection.
        case refuse(Frame.Refusal)
        /// The connection is over already. The caller discards the frame, and closes its descriptors.
        case drop
    }

    let role: Role
    /// The limits of what this end can receive.
    let limits: Frame.Limits
    private var state = State.connecting

    init(_ role: Role, limits: Frame.Limits) {
        self.role = role
        self.limits = limits
    }

    /// True if frames may still arrive and be sent.
    var isOpen: Bool {
        switch state {
        case .connecting, .admitted: true
        case .refused, .ended: false
        }
    }

    /// True until the other end's first frame has arrived, or the connection is over.
    var isConnecting: Bool {
        switch state {
        case .connecting: true
        case .admitted, .refused, .ended: false
        }
    }

    /// The reason of a refusal that either end has sent, or nil.
    var refusal: Frame.Refusal? {
        switch state {
        case .refused(let refusal): refusal
        case .connecting, .admitted, .ended: nil
        }
    }

    /// Returns the caller's next step for a well-formed frame that has arrived.
    mutating func receive(_ frame: Frame) -> Action {
        switch (state, role, frame.kind) {
        case (.refused, _, _), (.ended, _, _): return .drop
        case (.connecting, _, .refusal), (.admitted, _, .refusal): return close(frame)
        case (.connecting, .server, .hello), (.connecting, .client, .welcome):
            state = .admitted
            return .greet
        case (.connecting, .server, _), (.connecting, .client, _): return refuse(.malformed)
        case (.admitted, .server, .message), (.admitted, .server, .request), (.admitted, .client, .message):
            return limits.allow(frame) ? .deliver : refuse(.tooLarge)
        case (.admitted, .client, .reply), (.admitted, .client, .noReply):
            return limits.allow(frame) ? .answer : refuse(.tooLarge)
        case (.admitted, .server, .hello), (.admitted, .server, .welcome), (.admitted, .server, .reply),
            (.admitted, .server, .noReply), (.admitted, .client, .hello), (.admitted, .client, .welcome),
            (.admitted, .client, .request):
            return refuse(.malformed)
        }
    }

    /// Refuses the other end for a packet that is malformed, out of place, or beyond the limits.
    ///
    /// A refusal for another reason, such as the peer's user or its silence, does not pass through this function: the port sends
    /// the refusal and closes the connection.
    mutating func refuse(_ refusal: Frame.Refusal) -> Action {
        if !isOpen { return .drop }
        state = .refused(refusal)
        return .refuse(refusal)
    }

    /// Ends the connection, because the other end has ended or this end has closed it.
    ///
    /// - Returns: True if the connection was open until now. The caller then notifies the connection's users, which therefore
    ///   happens only once.
    mutating func end() -> Bool {
        if !isOpen { return false }
        state = .ended
        return true
    }

    private mutating func close(_ frame: Frame) -> Action {
        guard let refusal = Frame.Refusal(rawValue: frame.id) else {
            preconditionFailure("a refusal without a reason is malformed")
        }
        state = .refused(refusal)
        return .close(refusal)
    }
}

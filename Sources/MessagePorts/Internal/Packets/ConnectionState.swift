/// The protocol state of one end of a connection.
///
/// The state decides whether a ``Frame`` is allowed to arrive at the end, and how the end handles the frame.
///
/// First, the client sends a hello. It may send further packets without waiting for an answer. The server answers the hello with a
/// welcome or a refusal. Some kernels can block descriptors. Until the server has admitted the client, such a kernel rejects each
/// client packet that carries descriptors. Messages go both ways, requests go to the server, and replies go to the client. A frame
/// that is not allowed in the current state ends the connection.
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
        /// Final: one of the two ends has refused the other end, for this reason.
        case refused(Frame.Refusal)
        /// Final: the connection has ended without a refusal.
        case ended
    }

    /// The next step for the code that has received a frame.
    ///
    /// The code holds no lock when it takes this step.
    enum Action: Hashable, Sendable {
        /// The caller records the other end's limits, which are in ``Frame/limits``. A server then answers with its own limits.
        case greet
        /// The caller passes the message, or the request, to the handler.
        case deliver
        /// The caller passes the frame to the requester. The frame is a reply, or the notice that no reply will come. If the
        /// requester has stopped waiting, the caller counts the frame as a late reply.
        case answer
        /// The other end has sent a refusal. The caller reports the refusal to the users of the connection, and closes the
        /// connection.
        case close(Frame.Refusal)
        /// The frame is not allowed, or is beyond the limits. The caller counts the frame, sends the other end this reason if
        /// there is room, and closes the connection.
        case refuse(Frame.Refusal)
        /// The connection is over already. The caller discards the frame, and closes its descriptors.
        case drop
    }

    let role: Role
    /// The limits on the frames that this end can receive.
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

    /// True until the other end's first frame arrives or the connection is over.
    var isConnecting: Bool {
        switch state {
        case .connecting: true
        case .admitted, .refused, .ended: false
        }
    }

    /// The reason of the refusal that one of the two ends has sent, or nil if neither end has sent one.
    var refusal: Frame.Refusal? {
        switch state {
        case .refused(let refusal): refusal
        case .connecting, .admitted, .ended: nil
        }
    }

    /// Updates the state for a well-formed frame that has arrived, and returns the caller's next step.
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

    /// Records that this end refuses the other end, because a packet is malformed, not allowed at this point, or beyond the limits.
    ///
    /// Other refusals do not use this function: the port sends them and closes the connection. For example, a port can refuse a
    /// peer because of the peer's user, or because the peer has sent nothing.
    mutating func refuse(_ refusal: Frame.Refusal) -> Action {
        if !isOpen { return .drop }
        state = .refused(refusal)
        return .refuse(refusal)
    }

    /// Ends the connection, because the other end has ended or this end has closed it.
    ///
    /// - Returns: True if this call has ended the connection. The caller then notifies the connection's users, so they are notified
    ///   only once.
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

/// Where one end of a connection is in its life: which frames may come, and what each asks for.
///
/// A client says hello, and may send on at once; a server welcomes it, or refuses it. Until then the kernel may keep out the
/// client's descriptors. Messages and requests go one way, and replies the other. What comes out of place ends the
/// connection.
struct ConnectionLife: Sendable {
    /// Which end this is.
    enum Role: Sendable {
        /// The one with the port, which receives messages and requests.
        case server
        /// The one that has looked the port up, which receives replies.
        case client
    }

    private enum State {
        /// Nothing has come from the other end yet.
        case connecting
        /// The two have greeted each other.
        case admitted
        /// Final: one of the two has said why it ends.
        case refused(Frame.Refusal)
        /// Final: it is over without a word.
        case ended
    }

    /// What the caller does next, once it holds no lock.
    enum Action: Hashable, Sendable {
        /// Note the other end's limits, ``Frame/limits``; a server answers with its own.
        case greet
        /// Give the message, or the request, to the handler.
        case deliver
        /// Give the reply, or that there is none, to who waits for it. Where nobody does, count it as late: a request that
        /// was given up may be answered all the same.
        case answer
        /// The other end has refused: tell who uses the connection, and close it.
        case close(Frame.Refusal)
        /// What has come breaks the rules: count it, tell the other end this reason if there is room, and close the
        /// connection.
        case refuse(Frame.Refusal)
        /// The connection is over already: drop what has come, and close what has come with it.
        case drop
    }

    let role: Role
    /// What this end can receive.
    let limits: Frame.Limits
    private var state = State.connecting

    init(_ role: Role, limits: Frame.Limits) {
        self.role = role
        self.limits = limits
    }

    /// Whether frames may still come and go.
    var isOpen: Bool {
        switch state {
        case .connecting, .admitted: true
        case .refused, .ended: false
        }
    }

    /// Whether the other end's first frame is still awaited.
    var isConnecting: Bool {
        switch state {
        case .connecting: true
        case .admitted, .refused, .ended: false
        }
    }

    /// Why it was refused, by whichever end.
    var refusal: Frame.Refusal? {
        switch state {
        case .refused(let refusal): refusal
        case .connecting, .admitted, .ended: nil
        }
    }

    /// A well-formed frame has come.
    mutating func receive(_ frame: Frame) -> Action {
        switch (state, role, frame.kind) {
        case (.refused, _, _), (.ended, _, _): return .drop
        case (.connecting, _, .refusal), (.admitted, _, .refusal): return close(frame)
        case (.connecting, .server, .hello), (.connecting, .client, .welcome):
            state = .admitted
            return .greet
        case (.connecting, .server, _), (.connecting, .client, _): return refuse(.malformed)
        case (.admitted, .server, .message), (.admitted, .server, .request):
            return limits.allow(frame) ? .deliver : refuse(.tooLarge)
        case (.admitted, .client, .reply), (.admitted, .client, .noReply):
            return limits.allow(frame) ? .answer : refuse(.tooLarge)
        case (.admitted, .server, .hello), (.admitted, .server, .welcome), (.admitted, .server, .reply),
            (.admitted, .server, .noReply), (.admitted, .client, .hello), (.admitted, .client, .welcome),
            (.admitted, .client, .message),
            (.admitted, .client, .request):
            return refuse(.malformed)
        }
    }

    /// This end refuses to go on for what has come: what is malformed, out of place, or beyond the limits.
    ///
    /// Who is refused for something else, such as who it is or its silence, is told so and closed without being asked here.
    mutating func refuse(_ refusal: Frame.Refusal) -> Action {
        if !isOpen { return .drop }
        state = .refused(refusal)
        return .refuse(refusal)
    }

    /// The other end is gone, or this one has closed the connection.
    ///
    /// - Returns: Whether it was open until now, so that who uses it is told once.
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

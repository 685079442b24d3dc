/// The state of a request, which decides the next step each time libmicrohttpd asks how to continue.
struct ExchangeState {
    private enum Phase {
        /// The first line of the request was received.
        case header
        /// The header is complete, and the user's handler of headers is to decide about the body.
        case asking
        /// The body is being received.
        case body
        /// The request is complete, and not answered.
        case complete
        /// libmicrohttpd sends the answer.
        case answering
        /// The request has ended.
        case ended
    }

    /// The step to take when libmicrohttpd asks how to continue a request.
    enum Step {
        /// Nothing is to be done: the request continues, and libmicrohttpd will ask for the next step.
        case goOn
        /// The handler of headers is to be called; the connection is to be suspended until the handler has returned.
        case callHeaderHandler
        /// The offered bytes of the body are to be stored.
        case takeBody
        /// The handler of requests is to be called.
        case callRequestHandler
        /// The connection is to be suspended until there is an answer.
        case wait
        /// The answer is to be sent.
        case sendAnswer
    }

    private var phase = Phase.header
    /// True while the request waits for a handler to be called, or to return.
    ///
    /// The value becomes true when ``next(hasBytes:asksFirst:hasAnswer:)`` returns a step that calls a handler. It becomes false
    /// when the handler has returned, when an answer is sent, or when the request has ended.
    private(set) var handlerIsDue = false

    /// Decides the next step, and changes the state accordingly.
    ///
    /// - Parameters:
    ///   - hasBytes: True if libmicrohttpd offers bytes of the body.
    ///   - asksFirst: True if the header has just been received and the handler of headers is to be called.
    ///   - hasAnswer: True if the request has an answer that can be sent.
    /// - Returns: The step to take.
    mutating func next(hasBytes: Bool, asksFirst: Bool, hasAnswer: Bool) -> Step {
        switch phase {
        case .header:
            if hasAnswer { return answer() }
            if asksFirst {
                phase = .asking
                handlerIsDue = true
                return .callHeaderHandler
            }
            phase = .body
            return .goOn
        case .asking:
            if hasAnswer { return answer() }
            if handlerIsDue { return .wait }
            phase = .body
            return .goOn
        case .body:
            if hasBytes { return .takeBody }
            if hasAnswer { return answer() }
            phase = .complete
            handlerIsDue = true
            return .callRequestHandler
        case .complete:
            if hasAnswer { return answer() }
            return handlerIsDue ? .goOn : .wait
        case .answering, .ended: return .goOn
        }
    }

    private mutating func answer() -> Step {
        phase = .answering
        handlerIsDue = false
        return .sendAnswer
    }

    /// True in the phase in which the user's handler of headers decides about the body.
    var isAsking: Bool { phase == .asking }

    /// Records that the handler that was due has returned.
    mutating func handlerReturned() { handlerIsDue = false }

    mutating func end() {
        phase = .ended
        handlerIsDue = false
    }

    var hasEnded: Bool { phase == .ended }
}

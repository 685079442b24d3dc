/// The part of an exchange that decides the next step when libmicrohttpd asks about its request.
struct ExchangeState {
    private enum Phase {
        /// The first line was received.
        case header
        /// The handler of headers is to decide about the body.
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

    /// The next step, when libmicrohttpd asks.
    enum Step {
        /// The request continues, and libmicrohttpd asks again.
        case goOn
        /// The handler of headers is to be called, and the connection is suspended until the handler has returned.
        case callHeaderHandler
        /// The offered bytes of the body are to be stored.
        case takeBody
        /// The handler of requests is to be called.
        case callRequestHandler
        /// The connection is suspended until there is an answer.
        case wait
        /// The answer is to be sent.
        case sendAnswer
    }

    private var phase = Phase.header
    /// True after a step has queued the call of a handler, until the handler has returned or an answer is sent.
    private(set) var handlerIsDue = false

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - hasBytes: True if libmicrohttpd offers bytes of the body.
    ///   - asksFirst: True if the handler of headers is to be called for this request.
    ///   - hasAnswer: True if there is an answer.
    /// - Returns: The step.
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

    /// True if the handler that is due is the handler of headers.
    var isAsking: Bool { phase == .asking }

    /// Records that the handler that was due has returned.
    mutating func handlerReturned() { handlerIsDue = false }

    mutating func end() {
        phase = .ended
        handlerIsDue = false
    }

    var hasEnded: Bool { phase == .ended }
}

/// What a requester waits for: an answer, or the reason why there is none.
///
/// It is decided once, by whoever comes first: the answerer, the end of the right to reply or of the port, the deadline,
/// a cancellation, or a thread that finds a circle.
final class AwaitedReply<Answer: Sendable>: Sendable {
    /// Who is woken when it is decided.
    enum Waiter: Sendable {
        case thread(ThreadGate)
        case task(CheckedContinuation<Void, Never>)

        fileprivate func wake() {
            switch self {
            case .thread(let gate): gate.open()
            case .task(let continuation): continuation.resume()
            }
        }
    }

    private enum State: Sendable {
        /// Undecided, and nobody has begun to wait.
        case open
        /// Undecided, and somebody waits.
        case awaited(Waiter)
        /// Decided; the requester has not taken it yet.
        case decided(Result<Answer, RequestError>)
        /// The requester has it.
        case taken
    }

    private let state = Guarded(State.open)

    /// Begins to wait, once: the waiter is woken when it is decided, which may be at once.
    func begin(_ waiter: Waiter) {
        let isDecided = state.withLock { state in
            switch state {
            case .open:
                state = .awaited(waiter)
                return false
            case .decided: return true
            case .awaited, .taken: preconditionFailure("there is one requester, which waits once")
            }
        }
        if isDecided { waiter.wake() }
    }

    /// Decides what the requester gets, unless that was decided before.
    ///
    /// - Returns: False if it was.
    @discardableResult
    func decide(_ outcome: Result<Answer, RequestError>) -> Bool {
        let (decides, waiter): (Bool, Waiter?) = state.withLock { state in
            switch state {
            case .open:
                state = .decided(outcome)
                return (true, nil)
            case .awaited(let waiter):
                state = .decided(outcome)
                return (true, waiter)
            case .decided, .taken: return (false, nil)
            }
        }
        waiter?.wake()
        return decides
    }

    /// Whether the requester has nothing to wait for any more.
    var isDecided: Bool {
        state.withLock { state in
            switch state {
            case .open, .awaited: false
            case .decided, .taken: true
            }
        }
    }

    /// What was decided; once.
    func takeOutcome() throws(RequestError) -> Answer {
        let outcome: Result<Answer, RequestError> = state.withLock { state in
            guard case .decided(let outcome) = state else {
                preconditionFailure("the requester is woken after the outcome is decided")
            }
            state = .taken
            return outcome
        }
        return try outcome.get()
    }
}

internal import CRunLoops
internal import RunLoops

/// The resolution of one host name, for one connection.
///
/// When there is an answer, a descriptor becomes readable, which wakes the connection's loop.
///
/// > Thread safety: any thread.
final class LookUp: Sendable {
    private enum State: Sendable {
        case underWay
        case answered(NameAnswer)
        /// The connection no longer waits for the answer, or has taken it.
        case abandoned
    }

    private let state = Guarded(State.underWay)
    private let signal: OwnedDescriptor

    /// The descriptor that is readable once there is an answer.
    var descriptor: CInt { signal.descriptor }

    init() throws(SystemError) {
        signal = try OwnedDescriptor.eventDescriptor()
        try signal.setNonBlocking()
    }

    /// Sets the answer, and makes the descriptor readable.
    func finish(with answer: NameAnswer) {
        let isAwaited = state.withLock { state in
            if case .abandoned = state { return false }
            state = .answered(answer)
            return true
        }
        if isAwaited { runloops_raise_event(signal.descriptor) }
    }

    /// Removes and returns the answer, if there is one.
    func takeAnswer() -> NameAnswer? {
        runloops_lower_event(signal.descriptor)
        return state.withLock { state in
            guard case .answered(let answer) = state else { return nil }
            state = .abandoned
            return answer
        }
    }

    func abandon() { state.withLock { $0 = .abandoned } }
}

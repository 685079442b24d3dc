internal import Dispatch
internal import RunLoops

/// A thread of a simulation, other than the thread that calls the simulation's body.
///
/// The thread runs only while it has the turn. The body's thread gives it the turn through one semaphore, and gets the turn back
/// through another one. So only one of the two threads accesses their shared state at a time.
final class SimulatedThread: Sendable {
    /// The result of a turn, that is, of the time for which the thread was allowed to run.
    enum Answer {
        /// The thread has done something, and may be able to continue.
        case worked
        /// The thread waits, at the latest until this date.
        case waits(until: ContinuousClock.Instant)
        /// The thread has ended.
        case ended
    }

    let name: String
    private let turn = DispatchSemaphore(value: 0)
    private let answered = DispatchSemaphore(value: 0)

    private struct State {
        var answer = Answer.worked
        var loop: RunLoop?
    }
    private let state = Guarded(State())

    init(name: String) { self.name = name }

    /// The result of the last turn.
    var answer: Answer { state.withLock { $0.answer } }

    /// The thread's loop; nil if the thread has no loop yet, or has ended.
    var loop: RunLoop? { state.withLock { $0.loop } }

    // MARK: - The body's thread

    /// Lets this thread run, and waits until it gives the turn back.
    ///
    /// - Parameter patience: The time on the system's clock after which the thread is considered stuck.
    /// - Returns: The result of the turn.
    func takeTurn(_ patience: Duration) -> Answer {
        if case .ended = answer { return .ended }
        turn.signal()
        // A time that does not fit in `Int64` becomes the largest `Int64`. Dispatch treats that value as forever.
        let nanoseconds = patience.attoseconds / 1_000_000_000
        let end = DispatchTime.now() + .nanoseconds(Int(clamping: nanoseconds))
        if answered.wait(timeout: end) != .success {
            fatalError(
                "RunLoopSimulation: \(name) has the turn and does not give it back; let threads wait by means of run loops only, or give the simulation more patience"
            )
        }
        return answer
    }

    // MARK: - This thread

    func hasLoop(_ loop: RunLoop) { state.withLock { $0.loop = loop } }

    /// Waits until this thread gets its first turn.
    func awaitTurn() { turn.wait() }

    /// Gives the turn back to the body's thread, and waits for the next turn.
    func giveBack(_ answer: Answer) {
        give(answer)
        turn.wait()
    }

    /// Gives the turn back for the last time, because this thread ends.
    func end() {
        state.withLock { $0.loop = nil }
        give(.ended)
    }

    private func give(_ answer: Answer) {
        state.withLock { $0.answer = answer }
        answered.signal()
    }
}

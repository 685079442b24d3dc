internal import Dispatch
internal import RunLoops

/// One thread of a simulation beside the body's: it runs only while it has the turn.
///
/// The turn goes from the body's thread to this one and back, through two semaphores. So what both touch is touched by one
/// of them at a time.
final class SimulatedThread: Sendable {
    /// What has become of a turn.
    enum Answer {
        /// The thread has done something, and may go on.
        case worked
        /// It waits, at the latest until then.
        case waits(until: ContinuousClock.Instant)
        /// It has ended.
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

    /// What the thread has answered last.
    var answer: Answer { state.withLock { $0.answer } }

    /// The thread's loop, once it has one.
    var loop: RunLoop? { state.withLock { $0.loop } }

    // MARK: - The body's thread

    /// Gives the thread the turn until it gives it back.
    ///
    /// - Parameter patience: After how long, for real, the thread is taken to hang.
    /// - Returns: What has become of it.
    func takeTurn(_ patience: Duration) -> Answer {
        if case .ended = answer { return .ended }
        turn.signal()
        // Within what an Int64 can count, at which the time to wait is for ever.
        let nanoseconds = patience.attoseconds / 1_000_000_000
        let end = DispatchTime.now() + .nanoseconds(Int(clamping: nanoseconds))
        if answered.wait(timeout: end) != .success {
            fatalError(
                "LoopSimulation: \(name) has the turn and does not give it back; let threads wait by means of run loops only, or give the simulation more patience"
            )
        }
        return answer
    }

    // MARK: - This thread

    func hasLoop(_ loop: RunLoop) { state.withLock { $0.loop = loop } }

    /// Waits for the first turn.
    func awaitTurn() { turn.wait() }

    /// Gives the turn back, and waits for the next one.
    func giveBack(_ answer: Answer) {
        give(answer)
        turn.wait()
    }

    /// Gives the last turn back.
    func end() {
        state.withLock { $0.loop = nil }
        give(.ended)
    }

    private func give(_ answer: Answer) {
        state.withLock { $0.answer = answer }
        answered.signal()
    }
}

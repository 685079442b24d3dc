/// The receiver's side of a port: the claim, and the state that only the holder of the claim touches.
struct PortReceiver: ~Copyable, Sendable {
    /// The receiver's state, which only the holder of the claim may touch.
    ///
    /// It is declared first, because the thread sanitizer takes a change of the state for a change of the first member, and
    /// other threads read the claim. `nonisolated(unsafe)`: guarded by `claim`.
    nonisolated(unsafe) let state = ExclusivityUnchecked(State())

    /// The claim of the loop, port set or iteration that receives.
    let claim = Claim()

    struct State {
        /// The nodes that were taken out of the mailbox and whose messages have not all been handed out, oldest first.
        var backlog = NodeList()
        /// The port's place in its loop; nil while the port is in no loop.
        var input: PortInput?
    }
}

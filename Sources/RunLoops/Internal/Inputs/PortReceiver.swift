/// The receiver's side of a port: the claim, and the state that only the holder of the claim touches.
struct PortReceiver: ~Copyable, Sendable {
    /// The claim of the loop or port set that receives.
    let claim = Claim()

    /// Only for the holder of the claim.
    ///
    /// `nonisolated(unsafe)`: guarded by `claim`.
    nonisolated(unsafe) let state = ExclusivityUnchecked(State())

    struct State {
        /// The nodes that were taken in and whose messages have not all been handed out, oldest first.
        var backlog = NodeList()
        /// The port's place in its loop; nil while the port is in none.
        var input: PortInput?
    }
}

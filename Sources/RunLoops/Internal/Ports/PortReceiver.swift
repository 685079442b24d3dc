/// The receiver's side of a port: the claim, and the state that only the holder of the claim touches.
struct PortReceiver: ~Copyable, Sendable {
    /// The receiver's state, which only the holder of the claim may touch.
    ///
    /// The property is declared first, because the thread sanitizer reports a change of the state as a change of the first property
    /// of the struct. The first property must therefore not be `claim`, which other threads read.
    ///
    /// `nonisolated(unsafe)`: `claim` guards the state.
    nonisolated(unsafe) let state = ExclusivityUnchecked(State())

    /// The claim that a loop, a port set or an iterating task must hold to receive from the port.
    let claim = Claim()

    struct State {
        /// The nodes that were taken out of the mailbox and still contain a message to hand out, oldest first.
        var backlog = NodeList()
        /// The port as an input of its loop; nil while the port is in no loop.
        var input: PortInput?
    }
}

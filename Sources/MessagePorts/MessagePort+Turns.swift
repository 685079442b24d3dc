package import RunLoops

// For programs whose work for one message can be long, such as a hub.

extension MessagePort {
    /// Sets the handler that is called once after each ``giveTurn()``.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, with the budget of the pass. The handler spends the
    ///   budget for each step of its work. If the budget is spent, or after some steps, it asks for another turn for the rest.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    package func onTurn(_ handler: @escaping (inout Budget) -> Void) { core.onTurn(handler) }

    /// Gives the program a turn: the handler of ``onTurn(_:)`` is called once, after every peer that has sent a message was served
    /// once.
    ///
    /// There is one turn, however many peers the program has work for. So it is the program that divides its work among them, and the
    /// peers with work do not delay the messages of the others by one turn each.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    package func giveTurn() { core.giveTurn() }

    /// Reads no further message of a peer until ``resumeReading(_:)``.
    ///
    /// The messages wait in the kernel, which makes the peer wait when it has no more room for them. The end of a peer is not noticed
    /// meanwhile, unless the program closes its connection.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    package func pauseReading(_ peer: Peer) { core.pauseReading(peer) }

    /// Reads the messages of a peer again, after ``pauseReading(_:)``.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    package func resumeReading(_ peer: Peer) { core.resumeReading(peer) }
}

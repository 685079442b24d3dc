/// The turn of the program among the connections that have messages, and the connections whose messages wait for the program.
struct PortTurn: Sendable {
    private enum Turn: Sendable {
        /// The program has asked for no turn.
        case none
        /// It has asked for one, which is not yet among the events to serve.
        case asked
        /// Its turn is among the events to serve.
        case queued
    }

    private var turn = Turn.none
    private var paused: Set<UInt64> = []

    /// True if the program has asked for a turn that has not come.
    var isAsked: Bool {
        switch turn {
        case .none: false
        case .asked, .queued: true
        }
    }

    /// Asks for a turn; nothing happens if one is asked for.
    mutating func ask() {
        switch turn {
        case .none: turn = .asked
        case .asked, .queued: break
        }
    }

    /// Returns true if the turn is to be added to the events to serve.
    mutating func queue() -> Bool {
        switch turn {
        case .asked:
            turn = .queued
            return true
        case .none, .queued: return false
        }
    }

    /// Notes that the turn has come.
    mutating func take() { turn = .none }

    mutating func pause(_ connection: UInt64) { paused.insert(connection) }

    /// Ends the pause of a connection, also when the connection ends.
    mutating func resume(_ connection: UInt64) { if !paused.isEmpty { paused.remove(connection) } }

    func isPaused(_ connection: UInt64) -> Bool { !paused.isEmpty && paused.contains(connection) }
}

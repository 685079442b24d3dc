internal import DequeModule
internal import RunLoops

/// The connections that have not said yet what they are, in the order in which they came, and until when each may take.
///
/// All have the same time, so the first to come is the first to be late.
struct GreetingQueue: Sendable {
    private var waiting: Deque<(connection: UInt64, deadline: Moment)> = []

    /// When the next one is late; nil if none waits.
    var nextDeadline: Moment? { waiting.first?.deadline }

    /// Notes one that has come.
    mutating func append(_ connection: UInt64, deadline: Moment) { waiting.append((connection, deadline)) }

    /// Forgets one that is not awaited any more, the last to come as a rule.
    mutating func forget(_ connection: UInt64) {
        if let index = waiting.lastIndex(where: { $0.connection == connection }) { waiting.remove(at: index) }
    }

    /// The next one whose time is over.
    ///
    /// It may have said since what it is, or may be gone.
    mutating func takeLate(now: Moment) -> UInt64? {
        guard let first = waiting.first, first.deadline <= now else { return nil }
        return waiting.removeFirst().connection
    }
}

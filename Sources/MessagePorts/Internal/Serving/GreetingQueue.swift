internal import DequeModule
internal import RunLoops

/// The connections that have not sent their first packet yet, in the order in which they were accepted, with their deadlines.
///
/// All connections have the same time to greet, so the first connection in the queue has the earliest deadline.
struct GreetingQueue: Sendable {
    private var waiting: Deque<(connection: UInt64, deadline: Moment)> = []

    /// The deadline of the first connection, or nil if none waits.
    var nextDeadline: Moment? { waiting.first?.deadline }

    /// Adds a connection that was accepted.
    mutating func append(_ connection: UInt64, deadline: Moment) { waiting.append((connection, deadline)) }

    /// Removes a connection, which is usually the last one.
    mutating func remove(_ connection: UInt64) {
        if let index = waiting.lastIndex(where: { $0.connection == connection }) { waiting.remove(at: index) }
    }

    /// Removes and returns the next connection whose deadline has passed.
    ///
    /// The connection may have greeted since it was added, or may have ended.
    mutating func takeLate(now: Moment) -> UInt64? {
        guard let first = waiting.first, first.deadline <= now else { return nil }
        return waiting.removeFirst().connection
    }
}

internal import DequeModule
internal import RunLoops

/// The deadlines by which new connections must send their first packet, in the order in which the connections were accepted.
///
/// All connections have the same time to send their first packet, so the first deadline in the queue is the earliest. A connection
/// that has sent its first packet stays in the queue until its deadline has passed.
struct GreetingQueue: Sendable {
    private var waiting: Deque<(connection: UInt64, deadline: Moment)> = []

    /// The earliest deadline, or nil if the queue is empty.
    var nextDeadline: Moment? { waiting.first?.deadline }

    /// Adds a connection that was accepted.
    mutating func append(_ connection: UInt64, deadline: Moment) { waiting.append((connection, deadline)) }

    /// Removes a connection.
    ///
    /// The search begins at the end of the queue, because the connection is usually the one that was added last.
    mutating func remove(_ connection: UInt64) {
        if let index = waiting.lastIndex(where: { $0.connection == connection }) { waiting.remove(at: index) }
    }

    /// Removes and returns the next connection whose deadline has passed.
    ///
    /// It is possible that the connection has ended, or has sent its first packet, since it was added.
    mutating func takeLate(now: Moment) -> UInt64? {
        guard let first = waiting.first, first.deadline <= now else { return nil }
        return waiting.removeFirst().connection
    }
}

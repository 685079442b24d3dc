internal import RunLoops

/// The connections that wait for another attempt, because the kernel lacked a resource for an operation.
///
/// The kernel does not report when it has the resource again, so each attempt follows after a pause. If the kernel lacks a resource
/// for one connection, it lacks the resource for all connections. So all attempts are made at the same time.
struct RetryQueue: Sendable {
    private var waiting: [UInt64] = []
    private var backoff: ExponentialBackoff

    init(_ backoff: ExponentialBackoff) { self.backoff = backoff }

    /// The moment of the next attempt, or nil if no connection waits.
    private(set) var due: Moment?

    /// Adds a connection whose attempt has failed.
    ///
    /// - Returns: The moment of the next attempt.
    mutating func append(_ connection: UInt64, now: Moment) -> Moment {
        waiting.append(connection)
        let due = due ?? now.advanced(by: backoff.begin().nanosecondsRoundedUp)
        self.due = due
        return due
    }

    /// Removes and returns all connections, if the moment of the next attempt has come.
    mutating func takeDue(now: Moment) -> [UInt64] {
        guard let due, due <= now else { return [] }
        self.due = nil
        return exchange(&waiting, with: [])
    }

    /// Records that an attempt has succeeded, and makes the next pause as short as possible.
    mutating func hasSucceeded() { backoff.reset() }
}

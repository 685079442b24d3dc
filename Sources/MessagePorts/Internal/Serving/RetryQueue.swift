internal import RunLoops

/// The connections that wait to be tried again, for something that the kernel offers no readiness event for.
///
/// What is lacking is lacking for all of them, so all are tried at once.
struct RetryQueue: Sendable {
    private var waiting: [UInt64] = []
    private var pause: ExponentialBackoff

    init(_ pause: ExponentialBackoff = .resending) { self.pause = pause }

    /// When they are tried again; nil if there is none.
    private(set) var due: Moment?

    /// Adds a connection for which it was in vain.
    ///
    /// - Returns: When it is tried again.
    mutating func append(_ connection: UInt64, now: Moment) -> Moment {
        waiting.append(connection)
        let due = due ?? now.advanced(by: pause.begin().nanosecondsRoundedUp)
        self.due = due
        return due
    }

    /// Takes out all, if it is time.
    mutating func takeDue(now: Moment) -> [UInt64] {
        guard let due, due <= now else { return [] }
        self.due = nil
        defer { waiting = [] }
        return waiting
    }

    /// It was not in vain once.
    mutating func hasSucceeded() { pause.reset() }
}

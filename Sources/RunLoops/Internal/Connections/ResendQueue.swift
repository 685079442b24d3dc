/// The connections with replies that the kernel has had no means to send, and when that is tried again.
///
/// What is lacking is lacking for all of them, so all are tried at once.
struct ResendQueue: Sendable {
    private var waiting: [UInt64] = []
    private var pause = GrowingPause.resending

    /// When they are tried again; nil if there is none.
    private(set) var due: Moment?

    /// A connection's reply could not be sent.
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

    /// Something could be sent.
    mutating func hasSent() { pause.reset() }
}

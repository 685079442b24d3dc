internal import RunLoops

/// The time-outs of a connection, as a value without a clock and without a timer.
///
/// Activity changes only a stored moment. The owner sets its timer for the earliest deadline that is then known. If the deadline
/// has moved when the timer fires, the owner sets the timer again. So sending or receiving a byte never changes a timer.
struct ConnectionDeadlines {
    /// The moment from which ``Connection/Options/connectTimeout`` is counted.
    ///
    /// A connection makes a new ``ConnectionDeadlines`` when the connection is first added to a loop, so this is the moment of that
    /// addition.
    private let start: Moment

    /// The moment from which ``Connection/Options/idleTimeout`` is counted.
    ///
    /// This is the last time that a byte was sent or received. Before the first byte, it is the time that the connection was made.
    /// For a connection from an accepted or connected socket, it is instead the time that the connection was first added to a loop.
    private var lastActivity: Moment

    /// The moment from which ``Connection/Options/writeTimeout`` is counted; nil while the write time-out is not running.
    ///
    /// This is the last time that the kernel accepted some bytes and left other bytes unsent. If that has not happened since all
    /// bytes were last sent, this is the time that the kernel first refused the unsent bytes.
    private var lastProgress: Moment?

    /// The moment at which the connection began to wait for the peer to close its side.
    private var lingersSince: Moment?

    init(at now: Moment) {
        start = now
        lastActivity = now
    }

    /// Records that the connection is made.
    mutating func didConnect(at now: Moment) { lastActivity = now }

    mutating func didReceive(at now: Moment) { lastActivity = now }

    /// Records that the kernel has accepted bytes.
    mutating func didSend(at now: Moment, hasUnsent: Bool) {
        lastActivity = now
        lastProgress = hasUnsent ? now : nil
    }

    /// Records that the kernel accepts no more bytes for now.
    mutating func isBlocked(at now: Moment) { if lastProgress == nil { lastProgress = now } }

    mutating func lingers(at now: Moment) { if lingersSince == nil { lingersSince = now } }

    /// The cause of a deadline that ``next(_:_:)`` returns.
    enum Cause: Hashable {
        case timeout(Connection.Timeout)
        /// The peer has not closed its side within ``Connection/Options/lingerTimeout``.
        case linger
    }

    /// Finds the earliest deadline.
    ///
    /// - Parameters:
    ///   - machine: The state of the connection.
    ///   - options: The time-outs of the connection.
    /// - Returns: The moment and the cause; nil if there is none.
    func next(_ machine: borrowing ConnectionMachine, _ options: Connection.Options) -> (
        moment: Moment, cause: Cause
    )? {
        if machine.ended != nil { return nil }
        if !machine.isConnected {
            return options.connectTimeout.map { (after($0, start), .timeout(.connect)) }
        }
        if let lingersSince { return (after(options.lingerTimeout, lingersSince), .linger) }
        var next: (moment: Moment, cause: Cause)?
        if let timeout = options.idleTimeout { next = (after(timeout, lastActivity), .timeout(.idle)) }
        if let lastProgress, let timeout = options.writeTimeout {
            let moment = after(timeout, lastProgress)
            if moment < next?.moment ?? .never { next = (moment, .timeout(.write)) }
        }
        return next
    }

    private func after(_ timeout: Duration, _ moment: Moment) -> Moment {
        moment.advanced(by: max(timeout.nanosecondsRoundedUp, 0))
    }
}

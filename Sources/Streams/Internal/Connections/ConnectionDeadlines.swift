internal import RunLoops

/// The time-outs of a connection: a value that knows no clock and no timer.
///
/// Activity only moves a stored moment. The owner's timer is set for the earliest deadline that was known when it was set; when
/// it fires, the deadline may have moved on, and the timer is set again. So a byte costs no change of a timer.
struct ConnectionDeadlines {
    /// The moment at which the connection began to be made, or was made.
    private let start: Moment

    /// The last moment at which a byte was sent or received.
    private var lastActivity: Moment

    /// The last moment at which the kernel took a byte, or at which it could take none for the first time; nil while nothing is
    /// unsent.
    private var lastProgress: Moment?

    /// The moment at which the connection began to wait for the peer's close.
    private var lingersSince: Moment?

    init(at now: Moment) {
        start = now
        lastActivity = now
    }

    /// The connection was made.
    mutating func didConnect(at now: Moment) { lastActivity = now }

    mutating func didReceive(at now: Moment) { lastActivity = now }

    /// The kernel has taken bytes.
    mutating func didSend(at now: Moment, hasUnsent: Bool) {
        lastActivity = now
        lastProgress = hasUnsent ? now : nil
    }

    /// The kernel takes no more bytes for the time being.
    mutating func isBlocked(at now: Moment) { if lastProgress == nil { lastProgress = now } }

    mutating func lingers(at now: Moment) { if lingersSince == nil { lingersSince = now } }

    /// The answer of ``next(_:_:)``.
    enum Cause: Hashable {
        case timeout(Connection.Timeout)
        /// The peer does not close within the time to wait for that.
        case linger
    }

    /// Finds the earliest deadline.
    ///
    /// - Parameters:
    ///   - machine: The state of the connection.
    ///   - options: Its time-outs.
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

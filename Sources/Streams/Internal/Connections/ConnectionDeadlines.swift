internal import RunLoops

/// The deadlines of a connection, computed from its time-outs.
///
/// This value has no clock and no timer: the owner sets a timer for the earliest deadline. When a byte is sent or received, only a
/// stored moment changes, and the timer stays as it is. If the deadline has moved when the timer fires, the owner sets the timer
/// again.
struct ConnectionDeadlines {
    /// The moment at which the connection was first added to a loop.
    ///
    /// ``Connection/Options/connectTimeout`` is counted from this moment. The connection makes a new ``ConnectionDeadlines`` when
    /// it is first added to a loop.
    private let start: Moment

    /// The moment from which ``Connection/Options/idleTimeout`` is counted.
    ///
    /// This is the moment at which a byte was last sent or received. Before the first byte, it is the moment at which the
    /// connection was made. But if the connection was created from an accepted or connected socket and has no filter, it is then
    /// the moment at which the connection was first added to a loop.
    private var lastActivity: Moment

    /// The moment from which ``Connection/Options/writeTimeout`` is counted; nil while this time-out is not running.
    ///
    /// While unsent bytes wait, this is the moment at which the kernel last accepted bytes. If the kernel has accepted none of the
    /// waiting bytes, this is the moment at which the kernel first refused them.
    private var lastProgress: Moment?

    /// The moment at which the connection began to wait for the peer to close its side.
    private var lingersSince: Moment?

    /// The moment at which the connection's timer fires; `never` if the timer is not set.
    var timerMoment = Moment.never

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

    /// Records that the kernel has refused unsent bytes for now.
    mutating func didBlock(at now: Moment) { if lastProgress == nil { lastProgress = now } }

    mutating func lingers(at now: Moment) { if lingersSince == nil { lingersSince = now } }

    /// The cause of a deadline.
    enum Cause: Hashable {
        case timeout(Connection.Timeout)
        /// The peer has not closed its side within ``Connection/Options/lingerTimeout``.
        case linger
    }

    /// Returns the connection's earliest deadline.
    ///
    /// - Parameters:
    ///   - machine: The state of the connection.
    ///   - options: The time-outs of the connection.
    /// - Returns: The moment and the cause; nil if there is no deadline.
    func next(_ machine: borrowing ConnectionMachine, _ options: Connection.Options) -> (
        moment: Moment, cause: Cause
    )? {
        if machine.hasEnded { return nil }
        if !machine.isConnected {
            return options.connectTimeout.map { (after($0, start), .timeout(.connect)) }
        }
        if let lingersSince { return options.lingerTimeout.map { (after($0, lingersSince), .linger) } }
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

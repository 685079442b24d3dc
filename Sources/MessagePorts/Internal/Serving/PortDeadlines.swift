internal import RunLoops

/// The moments at which a port has to act, and one alarm for all of them.
///
/// There are four kinds of such moments:
/// - A peer is late with its first packet.
/// - After a pause, the port accepts connections again.
/// - After a pause, the port tries again to send a backlog.
/// - After a pause, the port tries again to read a connection whose next packet carries too many descriptors.
///
/// The port's ``EpollSet`` watches the alarm.
///
/// Not thread-safe: guarded by ``MessagePortCore/claim``. This object stays with the port when the port changes its loop.
final class PortDeadlines {
    private var alarm: Alarm
    private var greetings = GreetingQueue()
    /// The connections whose backlog could not be sent completely, because the kernel was out of resources.
    private var resends = RetryQueue(.resending)
    /// The connections that are not read, because their next packet carries more descriptors than the port may receive now.
    private var heldBack = RetryQueue(.holdingBack)
    private var acceptBackoff = ExponentialBackoff.accepting
    /// The moment at which the port watches the listener again, if a lack of descriptors or memory made it stop.
    private(set) var listenAgain: Moment?
    /// False while the listener is not watched, because the port is at its limit of connections, or out of descriptors or memory.
    private(set) var isListening = true

    init() throws(SystemError) { alarm = try Alarm() }

    /// The alarm's descriptor, which the port's set watches.
    var descriptor: CInt { alarm.descriptor }

    private func arm(_ moment: Moment) { _ = alarm.set(moment) }

    /// Records that the alarm has fired.
    func alarmFired() { alarm.hasFired() }

    /// Arms the alarm again for all moments that are still to come.
    func rearm() {
        for moment in [greetings.nextDeadline, listenAgain, resends.due, heldBack.due] {
            if let moment { arm(moment) }
        }
    }

    // MARK: - Greetings

    /// Adds the deadline for the first packet of a new connection.
    func expectGreeting(of connection: UInt64, before deadline: Moment) {
        greetings.append(connection, deadline: deadline)
        arm(deadline)
    }

    /// Cancels the deadline for the first packet of a connection.
    func cancelGreeting(of connection: UInt64) { greetings.remove(connection) }

    /// Removes and returns the next connection whose deadline for the first packet has passed.
    ///
    /// This object does not learn of packets. So the caller checks if the connection's first packet has arrived in time.
    func takeLateGreeting(now: Moment) -> UInt64? { greetings.takeLate(now: now) }

    var nextGreetingDeadline: Moment? { greetings.nextDeadline }

    // MARK: - Accepting

    /// Records that the listener is not watched until a connection ends.
    ///
    /// If `pausing` is true, the listener is watched again after a pause even if no connection ends.
    func stopListening(pausing: Bool) {
        isListening = false
        if pausing { pauseListening() }
    }

    /// Sets the moment at which the port watches the listener again.
    ///
    /// Each pause is longer than the one before, up to a limit, until ``resetAcceptBackoff()`` is called.
    func pauseListening() {
        let end = Moment.now().advanced(by: acceptBackoff.begin().nanosecondsRoundedUp)
        listenAgain = end
        arm(end)
    }

    /// Records that the listener is watched again.
    func startedListening() {
        isListening = true
        listenAgain = nil
    }

    /// Resets the backoff of accepting connections, so that the next pause is as short as possible.
    ///
    /// Called when a connection was accepted, or when a connection has ended and has released its descriptor.
    func resetAcceptBackoff() { acceptBackoff.reset() }

    // MARK: - Retries

    /// Schedules another attempt to send the backlog of a connection.
    func resendReplies(of connection: UInt64, now: Moment) { arm(resends.append(connection, now: now)) }

    /// Resets the backoff of the attempts to send a backlog, because a packet was sent.
    ///
    /// The next pause is then as short as possible.
    func replyWasSent() { resends.hasSucceeded() }

    /// Removes and returns the connections whose backlog is due for another attempt.
    func takeDueResends(now: Moment) -> [UInt64] { resends.takeDue(now: now) }

    /// Schedules the next read of a connection that is held back.
    func holdBack(_ connection: UInt64, now: Moment) { arm(heldBack.append(connection, now: now)) }

    /// Resets the backoff of the attempts to read held-back connections, because descriptors were received.
    ///
    /// The next pause is then as short as possible.
    func descriptorsWereReceived() { heldBack.hasSucceeded() }

    /// Removes and returns the held-back connections whose next read is due.
    func takeDueHeldBack(now: Moment) -> [UInt64] { heldBack.takeDue(now: now) }
}

internal import DequeModule
internal import RunLoops

/// The connections that a port reads next: those that its epoll set has reported, those that have probably sent more, and those
/// that its alarm is set for.
///
/// Not thread-safe: guarded by ``MessagePortCore/claim``. This object stays with the port when the port changes its loop.
final class ReadQueue {
    /// The state of the queue, stored without exclusivity checks because it is read for each message; see ``ExclusivityUnchecked``.
    private let state = ExclusivityUnchecked(State())

    let deadlines: PortDeadlines

    init() throws(SystemError) { deadlines = try PortDeadlines() }

    private struct State {
        var reports: Deque<EpollSet.Report> = []
        var lastSender: UInt64?
        var lastRequester: UInt64?
        var turn = PortTurn()
        /// The number of times that the port can still read the last requester's connection before it must poll the kernel.
        var guesses = 0

        mutating func takeLastRequester() -> UInt64? {
            guard let requester = lastRequester, guesses > 0 else {
                guesses = 16
                return nil
            }
            guesses -= 1
            lastRequester = nil
            return requester
        }
    }

    /// The events that the set has reported and that were not served yet.
    var reports: Deque<EpollSet.Report> {
        @inline(__always) _read { yield state.value.reports }
        @inline(__always) _modify { yield &state.value.reports }
    }

    /// The number of the connection whose message was served last; nil if that message was a request.
    ///
    /// A sender that waits for no reply has possibly sent more messages already.
    var lastSender: UInt64? {
        @inline(__always) get { state.value.lastSender }
        @inline(__always) set { state.value.lastSender = newValue }
    }

    /// The number of the connection whose message was served last; nil if that message was not a request.
    ///
    /// The number is also nil after ``takeLastRequester()`` has returned it.
    var lastRequester: UInt64? {
        @inline(__always) get { state.value.lastRequester }
        @inline(__always) set { state.value.lastRequester = newValue }
    }

    /// Removes and returns ``lastRequester``, because that connection has possibly sent its next request.
    ///
    /// - Returns: The number of the connection; nil if there is none. The result is also nil after this method has returned a
    ///   connection 16 times in a row. The port then polls the kernel, so that processes that connect are served, too.
    func takeLastRequester() -> UInt64? { state.value.takeLastRequester() }

    /// The turn of the program, and the connections that are not read; see ``MessagePort/giveTurn()``.
    var turn: PortTurn {
        @inline(__always) _read { yield state.value.turn }
        @inline(__always) _modify { yield &state.value.turn }
    }

    /// Queues the turn, if the program has asked for one, behind the events that the kernel has just reported.
    func queueTurn() {
        if turn.queue() {
            reports.append(EpollSet.Report(token: MessagePortCore.turnToken, readiness: []))
        }
    }
}

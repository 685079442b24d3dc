internal import DequeModule
internal import RunLoops

/// The connections that a port reads next: those that its set has reported, and those that are likely to have sent more.
///
/// Not thread-safe: guarded by the port's claim. It stays with the port when the port changes its loop.
final class ReadQueue {
    /// The state is read for each message, so it is stored without exclusivity checks; see ``ExclusivityUnchecked``.
    private let state = ExclusivityUnchecked(State())

    private struct State {
        var reports: Deque<EpollSet.Report> = []
        var lastSender: UInt64?
        var lastRequester: UInt64?
        /// The number of further reads of the last requester before the kernel is polled.
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

    /// The connection whose message was just served, if the message was not a request.
    ///
    /// Its sender waits for no reply, and may have sent more.
    var lastSender: UInt64? {
        @inline(__always) get { state.value.lastSender }
        @inline(__always) set { state.value.lastSender = newValue }
    }

    /// The connection whose request was just served.
    var lastRequester: UInt64? {
        @inline(__always) get { state.value.lastRequester }
        @inline(__always) set { state.value.lastRequester = newValue }
    }

    /// Removes and returns the last requester, which may have sent its next request.
    ///
    /// - Returns: The connection. Nil if there is none, or if the last requester was read 16 times in a row. Then the kernel is
    ///   polled, so that processes that connect are served, too.
    func takeLastRequester() -> UInt64? { state.value.takeLastRequester() }
}

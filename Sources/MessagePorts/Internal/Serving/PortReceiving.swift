internal import DequeModule
internal import RunLoops

/// What only the loop that reads touches, and keeps from one loop to the next.
final class PortReceiving {
    /// What each message looks at: without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    private let line = ExclusivityUnchecked(Line())
    /// Who has not said what it is.
    var greetings = GreetingQueue()
    /// Fires when a peer is late, when the listener is to be listened to again, when replies are to be sent again, or when
    /// descriptors may be received again.
    var alarm: Alarm
    var pause = ExponentialBackoff.accepting
    /// The connections with replies that could not be sent.
    var resends = RetryQueue()
    /// The connections from which nothing is read, because their next packet carries descriptors and none may come now.
    var heldBack = RetryQueue(.holdingBack)
    /// Nobody is accepted for now: there are enough connections, or no descriptors.
    var isListening = true
    /// When to listen again, if it was for the lack of descriptors.
    var pauseEnd: Moment?

    init() throws(SystemError) { alarm = try Alarm() }

    private struct Line {
        var reports: Deque<EpollSet.Report> = []
        var stream: UInt64?
        var asker: UInt64?
        /// How many times more the asker may be read before the kernel is asked who else is there.
        var guesses = 0

        mutating func takeAsker() -> UInt64? {
            guard let asker, guesses > 0 else {
                guesses = 16
                return nil
            }
            guesses -= 1
            self.asker = nil
            return asker
        }
    }

    /// What the set has reported, and was not served yet.
    var reports: Deque<EpollSet.Report> {
        @inline(__always) _read { yield line.value.reports }
        @inline(__always) _modify { yield &line.value.reports }
    }

    /// Whose message was just served, if it may have sent more without waiting for anything.
    var stream: UInt64? {
        @inline(__always) get { line.value.stream }
        @inline(__always) set { line.value.stream = newValue }
    }

    /// Whose request was served last.
    var asker: UInt64? {
        @inline(__always) get { line.value.asker }
        @inline(__always) set { line.value.asker = newValue }
    }

    /// Who may be asking again, unless it is time to ask the kernel: those who want to connect have their turn, too.
    func takeAsker() -> UInt64? { line.value.takeAsker() }
}

/// The state of a connection: a value, without a socket and without handlers.
///
/// Each event is a method. After it, the owner takes the steps that ``nextStep(hasUnsent:)`` returns, one by one, until there
/// is none. A step that calls a handler is not returned while another handler is being called, so that a handler may do
/// anything to its connection: the steps that follow from it come when it has returned.
struct ConnectionMachine: Hashable {
    /// One direction of the connection, as this side sees it.
    enum Direction {
        case open
        /// For output: ends as soon as all that was written is sent.
        case ending
        case ended
    }

    /// Something that a handler is told, at most once each.
    enum Notice: Hashable {
        case connected
        case inputEnded
        /// The unsent bytes are few again.
        case drained
        case ended(Connection.EndReason)
    }

    /// Something that the owner does next.
    enum Step: Hashable {
        /// Tells the kernel that no more is sent.
        case endOutput
        /// Closes the descriptor and forgets all bytes.
        case close
        case call(Notice)
    }

    private(set) var isConnected: Bool
    private(set) var input = Direction.open
    private(set) var output = Direction.open
    private(set) var isPaused = false

    /// The reason with which the connection will end, once all is sent and the peer has closed, too.
    private(set) var closing: Connection.EndReason?

    /// The reason with which it has ended.
    private(set) var ended: Connection.EndReason?

    /// True if the owner's handler wants to be told of the end of the input, and ends the connection itself.
    var handlesInputEnd = false

    private var isClosed = false
    private var tellsConnected = false
    private var tellsInputEnd = false
    private var tellsDrained = false
    private var hasToldEnd = false

    /// True while a handler is being called.
    private(set) var isCalling = false

    init(isConnected: Bool) { self.isConnected = isConnected }

    // MARK: - Questions

    /// True if received bytes are given to a handler.
    var delivers: Bool { isConnected && closing == nil && ended == nil && !isPaused && !isCalling }

    /// True if the kernel is asked for input: for a handler, or to discard it while the connection closes.
    func wantsInput(hasReceiver: Bool) -> Bool {
        guard isConnected, input == .open, ended == nil else { return false }
        return closing != nil || !isPaused && hasReceiver
    }

    /// True if what is written is sent.
    var takesOutput: Bool { output == .open && ended == nil }

    /// True if all is sent, and the connection waits for the peer to close.
    var isLingering: Bool { closing != nil && output == .ended && ended == nil }

    /// True if the last step has been taken: nothing happens any more.
    var isOver: Bool { hasToldEnd }

    // MARK: - Events

    mutating func didConnect() {
        if ended != nil { return }
        isConnected = true
        if closing == nil { tellsConnected = true }
    }

    /// The peer has ended its stream.
    ///
    /// - Parameter isComplete: False if bytes are left that no handler has consumed.
    mutating func didEndInput(isComplete: Bool) {
        guard ended == nil, input != .ended else { return }
        input = .ended
        if closing != nil { return }
        if !isComplete {
            end(.incompleteInput)
        } else if handlesInputEnd {
            tellsInputEnd = true
        } else {
            close(afterWriting: .peerClosed)
        }
    }

    /// The unsent bytes have fallen to where a writer may go on.
    mutating func didDrain() { if takesOutput { tellsDrained = true } }

    /// Sends what was written, then ends the stream to the peer; input still comes.
    mutating func endOutput() { if output == .open { output = .ending } }

    /// Sends what was written, then ends the connection when the peer has closed, too.
    mutating func close(afterWriting reason: Connection.EndReason) {
        if ended != nil || closing != nil { return }
        closing = reason
        endOutput()
    }

    /// Ends the connection.
    mutating func end(_ reason: Connection.EndReason) { if ended == nil { ended = reason } }

    /// The time to wait for the peer's close is over.
    mutating func didLinger() { if isLingering, let closing { end(closing) } }

    mutating func pause() { isPaused = true }
    mutating func resume() { isPaused = false }

    /// A handler is about to be called.
    mutating func beginCall() {
        precondition(
            !isCalling && !hasToldEnd,
            "handlers of a connection are called one after the other, and not after its end")
        isCalling = true
    }

    /// The handler has returned.
    mutating func endCall() { isCalling = false }

    // MARK: - Steps

    /// Takes the next step.
    ///
    /// - Parameter hasUnsent: True if bytes were written that the kernel has not taken.
    /// - Returns: The step; nil if there is nothing to do.
    mutating func nextStep(hasUnsent: Bool) -> Step? {
        if ended == nil {
            if output == .ending && isConnected && !hasUnsent {
                output = .ended
                return .endOutput
            }
            // Told first of all that has happened: a handler may write, or close in another way.
            if let notice = nextNotice() { return .call(notice) }
            if output == .ended && input == .ended && !hasNotices { end(closing ?? .peerClosed) }
        }
        guard let ended else { return nil }
        if !isClosed {
            isClosed = true
            return .close
        }
        if isCalling || hasToldEnd { return nil }
        hasToldEnd = true
        return .call(.ended(ended))
    }

    private var hasNotices: Bool { tellsConnected || tellsInputEnd || tellsDrained }

    private mutating func nextNotice() -> Notice? {
        if isCalling { return nil }
        if tellsConnected {
            tellsConnected = false
            return .connected
        }
        if closing != nil {
            tellsInputEnd = false
            tellsDrained = false
            return nil
        }
        if tellsInputEnd {
            tellsInputEnd = false
            return .inputEnded
        }
        if tellsDrained {
            tellsDrained = false
            return .drained
        }
        return nil
    }
}

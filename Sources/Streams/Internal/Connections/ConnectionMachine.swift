/// The state machine of a connection, without the socket and the handlers.
///
/// The owner calls a method for each event. After each event, it takes the steps that ``nextStep(hasUnsent:)`` returns, one by one,
/// until that method returns nil. While a handler is being called, the method returns no step that calls another handler. So a
/// handler may do anything to its connection: the handlers for the resulting events are called after that handler has returned.
struct ConnectionMachine: Hashable {
    /// The state of one direction of the connection, as this side sees it.
    enum Direction {
        case open
        /// The direction ends as soon as all written bytes are sent; only for output.
        case ending
        case ended
    }

    /// An event for which a handler is called.
    enum Notice: Hashable {
        case connected
        case inputEnded
        /// The unsent bytes have fallen to half of the high-water mark.
        case drained
        case ended(Connection.EndReason)
    }

    /// An action that the owner takes next.
    enum Step: Hashable {
        /// Ends the stream to the peer.
        case endOutput
        /// Closes the descriptor and discards all bytes.
        case close
        case call(Notice)
    }

    private(set) var isConnected: Bool
    private(set) var input = Direction.open
    private(set) var output = Direction.open
    private(set) var isPaused = false

    /// The reason that a closing connection reports when it ends; nil while the connection is not closing.
    ///
    /// A closing connection ends once all bytes are sent and the peer has closed its side.
    private(set) var closing: Connection.EndReason?

    /// The reason that the connection has ended; nil while it is open.
    private(set) var ended: Connection.EndReason?

    /// True if the connection stays open for writing after the peer has ended its stream.
    ///
    /// If this is false, the end of the peer's stream closes the connection, once all written bytes are sent.
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

    /// True if received bytes may be given to a handler now.
    var delivers: Bool { isConnected && closing == nil && ended == nil && !isPaused && !isCalling }

    /// True if the connection should receive bytes.
    ///
    /// The bytes are for a handler or a task. If the connection is closing, it receives and discards them.
    func wantsInput(hasReceiver: Bool) -> Bool {
        guard isConnected, input == .open, ended == nil else { return false }
        return closing != nil || !isPaused && hasReceiver
    }

    /// True if bytes may be written: the output and the connection are open.
    var takesOutput: Bool { output == .open && ended == nil }

    /// True if all bytes are sent, and the connection waits for the peer to close its side.
    var isLingering: Bool { closing != nil && output == .ended && ended == nil }

    /// True if the connection has ended because one side ended it, not because of a failure or a limit.
    var hasEndedInOrder: Bool { ended == .closed || ended == .peerClosed }

    /// True if ``nextStep(hasUnsent:)`` has returned its last step; no handler is called after that step.
    var isOver: Bool { hasToldEnd }

    // MARK: - Events

    mutating func didConnect() {
        if ended != nil { return }
        isConnected = true
        if closing == nil { tellsConnected = true }
    }

    /// Records that the peer has ended its stream.
    ///
    /// - Parameter isComplete: False if the handler or the task has left bytes unconsumed.
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

    /// Records an error of receiving, which ends the connection.
    ///
    /// There is one exception: while the connection is closing, a TLS peer may close its socket without the closing notice
    /// (close_notify). That counts as the end of the peer's stream, because many peers do not answer the notice that this side
    /// sends.
    mutating func didFailInput(_ reason: Connection.EndReason) {
        if closing != nil, case .tls(let error) = reason, error.cause == .truncated {
            didEndInput(isComplete: true)
        } else {
            end(reason)
        }
    }

    /// Records that the unsent bytes have fallen to half of the high-water mark.
    mutating func didDrain() { if takesOutput { tellsDrained = true } }

    /// Ends the stream to the peer after all written bytes are sent; the connection still receives.
    mutating func endOutput() { if output == .open { output = .ending } }

    /// Begins to close the connection, which ends once all written bytes are sent and the peer has closed its side.
    mutating func close(afterWriting reason: Connection.EndReason) {
        if ended != nil || closing != nil { return }
        closing = reason
        endOutput()
    }

    /// Ends the connection immediately, unless it has ended.
    mutating func end(_ reason: Connection.EndReason) { if ended == nil { ended = reason } }

    /// Records that the wait for the peer to close its side has timed out.
    mutating func didLinger() { if isLingering, let closing { end(closing) } }

    mutating func pause() { isPaused = true }
    mutating func resume() { isPaused = false }

    /// Records that a handler is about to be called.
    mutating func beginCall() {
        precondition(
            !isCalling && !hasToldEnd,
            "handlers of a connection are called one after the other, and not after its end")
        isCalling = true
    }

    /// Records that the handler has returned.
    mutating func endCall() { isCalling = false }

    // MARK: - Steps

    /// Returns the next step, and records that it is taken.
    ///
    /// - Parameter hasUnsent: True if bytes were written that the kernel has not accepted.
    /// - Returns: The step; nil if there is nothing to do.
    mutating func nextStep(hasUnsent: Bool) -> Step? {
        if ended == nil {
            if output == .ending && isConnected && !hasUnsent {
                output = .ended
                return .endOutput
            }
            // The handlers for all earlier events are called before the connection ends, because a handler may still write, or
            // close the connection in another way.
            if let notice = nextNotice() { return .call(notice) }
            if output == .ended && input == .ended && !hasNotices && !hasUnsent {
                end(closing ?? .peerClosed)
            }
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

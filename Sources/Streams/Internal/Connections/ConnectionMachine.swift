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

    /// The life of the connection, which only advances, from each case to a later one.
    private enum Phase: Hashable {
        case open
        /// The connection ends, for this reason, once all bytes are sent and the peer has closed its side.
        case closing(Connection.EndReason)
        /// The connection has ended; its owner takes this step next, or has taken all if it is nil.
        case ended(Connection.EndReason, next: LastStep?)
    }

    /// The steps of a connection that has ended, in their order.
    private enum LastStep {
        case close, call
    }

    /// The notices that are due, in the order in which handlers are called.
    private struct Notices: OptionSet, Hashable {
        let rawValue: UInt8

        static var connected: Notices { Notices(rawValue: 1) }
        static var inputEnded: Notices { Notices(rawValue: 2) }
        static var drained: Notices { Notices(rawValue: 4) }
    }

    private var phase = Phase.open
    private var due = Notices()
    private(set) var isConnected: Bool
    private(set) var input = Direction.open
    private(set) var output = Direction.open
    private(set) var isPaused = false

    /// What the end of the peer's stream leads to.
    enum InputEnd {
        /// The connection closes, once all written bytes are sent.
        case close
        /// A handler is called, and the connection stays open for writing.
        case notice
    }

    var onInputEnd = InputEnd.close

    /// True while a handler is being called.
    private(set) var isCalling = false

    init(isConnected: Bool, receives: Bool = true, sends: Bool = true) {
        self.isConnected = isConnected
        if !receives { input = .ended }
        if !sends { output = .ended }
    }

    // MARK: - Questions

    /// The reason that the connection has ended; nil before its end.
    var ended: Connection.EndReason? { if case .ended(let reason, _) = phase { reason } else { nil } }

    /// The reason that a closing connection reports when it ends; nil if it is not closing.
    var closing: Connection.EndReason? { if case .closing(let reason) = phase { reason } else { nil } }

    var hasEnded: Bool { if case .ended = phase { true } else { false } }
    var isClosing: Bool { if case .closing = phase { true } else { false } }
    private var isOpen: Bool { if case .open = phase { true } else { false } }

    /// True if received bytes may be given to a handler now.
    var delivers: Bool { isConnected && isOpen && !isPaused && !isCalling }

    /// True if the connection should receive bytes.
    ///
    /// The bytes are for a handler or a task. If the connection is closing, it receives and discards them.
    func wantsInput(hasReceiver: Bool) -> Bool {
        guard isConnected, input == .open, !hasEnded else { return false }
        return isClosing || !isPaused && hasReceiver
    }

    /// True if bytes may be written: the output and the connection are open.
    var takesOutput: Bool { output == .open && !hasEnded }

    /// True if all bytes are sent, and the connection waits for the peer to close its side.
    var isLingering: Bool { isClosing && output == .ended }

    /// True if the connection has ended because one side ended it, not because of a failure or a limit.
    var hasEndedInOrder: Bool { ended == .closed || ended == .peerClosed }

    /// True if ``nextStep(hasUnsent:)`` has returned its last step; no handler is called after that step.
    var isOver: Bool { if case .ended(_, next: nil) = phase { true } else { false } }

    // MARK: - Events

    mutating func didConnect() {
        if hasEnded { return }
        isConnected = true
        if isOpen { due.insert(.connected) }
    }

    /// Records that the peer has ended its stream.
    ///
    /// - Parameter isComplete: False if the handler or the task has left bytes unconsumed.
    mutating func didEndInput(isComplete: Bool) {
        guard !hasEnded, input != .ended else { return }
        input = .ended
        if isClosing { return }
        if !isComplete {
            // The peer gets what was written before, as at any other end of its stream.
            close(afterWriting: .incompleteInput)
        } else if onInputEnd == .notice {
            due.insert(.inputEnded)
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
        if isClosing, case .tls(let error) = reason, error.reason == .truncated {
            didEndInput(isComplete: true)
        } else {
            end(reason)
        }
    }

    /// Records that the unsent bytes have fallen to half of the high-water mark.
    mutating func didDrain() { if takesOutput { due.insert(.drained) } }

    /// Ends the stream to the peer after all written bytes are sent; the connection still receives.
    mutating func endOutput() { if output == .open { output = .ending } }

    /// Begins to close the connection, which ends once all written bytes are sent and the peer has closed its side.
    mutating func close(afterWriting reason: Connection.EndReason) {
        if !isOpen { return }
        phase = .closing(reason)
        endOutput()
    }

    /// Ends the connection immediately, unless it has ended.
    mutating func end(_ reason: Connection.EndReason) {
        if !hasEnded { phase = .ended(reason, next: .close) }
    }

    /// Records that the wait for the peer to close its side has timed out.
    mutating func didLinger() { if isLingering, let closing { end(closing) } }

    /// Forgets who was told of the end of the peer's stream, which the next attempt to receive finds again.
    mutating func forgetInputEnd() {
        if input == .ended { input = .open }
        onInputEnd = .close
        due.subtract([.inputEnded, .drained])
    }

    mutating func pause() { isPaused = true }
    mutating func resume() { isPaused = false }

    /// Records that a handler is about to be called.
    mutating func beginCall() {
        precondition(
            !isCalling && !isOver,
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
        if !hasEnded {
            if output == .ending && isConnected && !hasUnsent {
                output = .ended
                return .endOutput
            }
            // The handlers for all earlier events are called before the connection ends, because a handler may still write, or
            // close the connection in another way.
            if let notice = nextNotice() { return .call(notice) }
            if output == .ended && input == .ended && due.isEmpty && !hasUnsent {
                end(closing ?? .peerClosed)
            }
        }
        switch phase {
        case .ended(let reason, next: .close):
            phase = .ended(reason, next: .call)
            return .close
        case .ended(let reason, next: .call) where !isCalling:
            phase = .ended(reason, next: nil)
            return .call(.ended(reason))
        default: return nil
        }
    }

    private mutating func nextNotice() -> Notice? {
        if isCalling { return nil }
        if due.remove(.connected) != nil { return .connected }
        // A connection that is closing has nothing more to say before its end.
        if isClosing { due = [] }
        if due.remove(.inputEnded) != nil { return .inputEnded }
        if due.remove(.drained) != nil { return .drained }
        return nil
    }
}

/// The part of a transfer that decides which handler is called next.
///
/// The order is: first the header of the answer, then the bytes of the body, finally the end. The header and the end are delivered
/// at most once. Nothing is delivered after the transfer was cancelled.
struct TransferState {
    /// The handler that is to be called next.
    enum Delivery: Equatable {
        case response
        case bytes
        case end(HTTPClientError?)
        /// No handler is called until the state changes.
        case nothing
    }

    private enum Answer {
        /// The header of the answer is not complete.
        case awaited
        /// The header of the answer is complete, and is not delivered yet.
        case complete
        case delivered
    }

    private enum End: Equatable {
        case reached(HTTPClientError?)
        case delivered
    }

    private var answer = Answer.awaited
    private var end: End?

    /// True if the user has paused the transfer: neither bytes nor the end are delivered.
    var isPaused = false

    /// True once the transfer has ended or was cancelled, even if the handler of the end was not called yet.
    var hasEnded: Bool { end != nil }

    /// True once no handler is left to call: the end was delivered, or the transfer was cancelled.
    var isOver: Bool { end == .delivered }

    /// The result of the transfer.
    ///
    /// It is nil until the transfer has ended. Then it is the error, or `.some(nil)` if the answer is complete.
    var result: HTTPClientError?? {
        if case .reached(let error) = end { return .some(error) }
        return end == nil ? nil : .some(.cancelled)
    }

    mutating func headerIsComplete() { if case .awaited = answer { answer = .complete } }

    /// Records that the transfer has ended, unless it had ended before.
    mutating func finish(_ error: HTTPClientError?) { if end == nil { end = .reached(error) } }

    /// Changes the result to `clientInvalidated`, if the transfer is paused, has ended, and has not delivered its result yet.
    ///
    /// This is called when the client is invalidated. The new result is delivered despite the pause.
    mutating func invalidate() {
        if isPaused, case .reached = end { end = .reached(.clientInvalidated) }
    }

    /// Ends the transfer, so that no handler is called any more.
    mutating func cancel() { end = .delivered }

    /// Returns the handler that is to be called next, and records that it was called.
    ///
    /// The caller must then call that handler.
    mutating func next(hasBytes: Bool) -> Delivery {
        switch (answer, end) {
        case (_, .delivered): return .nothing
        case (_, .reached(.clientInvalidated)):
            end = .delivered
            return .end(.clientInvalidated)
        case (.complete, _):
            answer = .delivered
            return .response
        case (.awaited, nil), (.delivered, nil):
            return hasBytes && !isPaused ? .bytes : .nothing
        case (.awaited, .reached(let error)), (.delivered, .reached(let error)):
            if isPaused { return .nothing }
            if hasBytes { return .bytes }
            end = .delivered
            return .end(error)
        }
    }
}

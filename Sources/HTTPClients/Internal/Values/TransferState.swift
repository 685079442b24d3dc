/// The part of a transfer that decides which handler is called next.
///
/// The header of the answer is delivered before the bytes of the body, and the end after them. The header and the end are delivered
/// at most once. Nothing is delivered after a cancel.
struct TransferState {
    /// The next call of a handler.
    enum Delivery: Equatable {
        case response
        case bytes
        case end(HTTPClientError?)
        /// No call until the state changes.
        case nothing
    }

    private enum Answer {
        /// The header is not complete.
        case awaited
        /// The header is complete, and was not delivered.
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

    /// True once libcurl has completed the transfer, or the transfer was cancelled.
    var hasEnded: Bool { end != nil }

    /// True if no further handler is to be called.
    var isOver: Bool { end == .delivered }

    /// The result: nil until the transfer has ended, then the error, or `.some(nil)` for a complete answer.
    var result: HTTPClientError?? {
        if case .reached(let error) = end { return .some(error) }
        return end == nil ? nil : .some(.cancelled)
    }

    mutating func headerIsComplete() { if case .awaited = answer { answer = .complete } }

    /// Ends the transfer, unless it has ended.
    mutating func finish(_ error: HTTPClientError?) { if end == nil { end = .reached(error) } }

    /// Ends the transfer without the call of a handler.
    mutating func cancel() { end = .delivered }

    /// Decides the next call, and records that the caller makes it.
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

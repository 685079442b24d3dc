/// The part of a transfer that decides which handler is called next.
///
/// The answer is delivered before its bytes, and the end after them. The answer and the end are delivered at most once. Nothing is
/// delivered after a cancel.
struct TransferState {
    /// The call of a handler.
    enum Delivery: Equatable {
        case response
        case bytes
        case end(HTTPClientError?)
        /// Nothing until something else happens.
        case nothing
    }

    private enum Answer {
        /// Its header is not complete.
        case awaited
        /// Its header is complete, and was not delivered.
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

    /// True once no handler is called any more.
    var isOver: Bool { end == .delivered }

    /// The result of a transfer that has ended: nil until then, and nil inside for a complete answer.
    var result: HTTPClientError?? {
        if case .reached(let error) = end { return .some(error) }
        return end == nil ? nil : .some(.cancelled)
    }

    mutating func headerIsComplete() { if case .awaited = answer { answer = .complete } }

    /// Ends the transfer, unless it has ended.
    mutating func finish(_ error: HTTPClientError?) { if end == nil { end = .reached(error) } }

    /// Ends the transfer without a handler.
    mutating func cancel() { end = .delivered }

    /// Decides the next call, which the caller makes then.
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

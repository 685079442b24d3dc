/// The part of a transfer that decides which handler is called next.
///
/// The order is: first the header of the answer, then the bytes of the body, finally the end. The header and the end are delivered
/// at most once. After the transfer was cancelled, only the end is delivered.
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
        /// The end comes after what is stored, unless the transfer is paused.
        case reached(HTTPClientError?)
        /// The end comes next, even if the transfer is paused, and what is stored is not delivered.
        case cut(HTTPClientError)
        case delivered
    }

    private var answer = Answer.awaited
    private var end: End?

    /// True if the user has paused the transfer: neither bytes nor the end are delivered.
    var isPaused = false

    /// True once the transfer has ended or was cancelled, even if the handler of the end was not called yet.
    var hasEnded: Bool { end != nil }

    /// The result of the transfer.
    ///
    /// It is nil until the transfer has ended. Then it is the error, or `.some(nil)` if the answer is complete.
    var result: HTTPClientError?? {
        switch end {
        case nil: nil
        case .reached(let error): .some(error)
        case .cut(let error): .some(error)
        case .delivered: .some(.cancelled)
        }
    }

    mutating func headerIsComplete() { if case .awaited = answer { answer = .complete } }

    /// Records that the transfer has ended, unless it had ended before.
    mutating func finish(_ error: HTTPClientError?) { if end == nil { end = .reached(error) } }

    /// Records that the stored bytes of a transfer, which may have ended, could not be decoded.
    mutating func fail(_ error: HTTPClientError) {
        switch end {
        case nil, .reached: end = .reached(error)
        case .cut, .delivered: break
        }
    }

    /// Ends the transfer because it was cancelled or its client invalidated, unless its end was delivered.
    mutating func cut(_ error: HTTPClientError) {
        switch end {
        case nil, .reached: end = .cut(error)
        case .cut, .delivered: break
        }
    }

    /// True if ``next(hasBytes:)`` would return a handler.
    func hasNext(hasBytes: Bool) -> Bool {
        switch (answer, end) {
        case (_, .delivered): false
        case (_, .cut), (.complete, _): true
        case (.awaited, nil), (.delivered, nil): hasBytes && !isPaused
        case (.awaited, .reached), (.delivered, .reached): !isPaused
        }
    }

    /// Returns the handler that is to be called next, and records that it was called.
    ///
    /// The caller must then call that handler.
    mutating func next(hasBytes: Bool) -> Delivery {
        switch (answer, end) {
        case (_, .delivered): return .nothing
        case (_, .cut(let error)):
            end = .delivered
            return .end(error)
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

public import HTTPMessages
internal import RunLoops

extension HTTPExchange {
    /// Begins an answer whose body is written while it is sent.
    ///
    /// ```swift
    /// exchange.begin(fields: ["Content-Type": "text/csv"])
    /// exchange.write(Array("1,2\n".utf8))
    /// exchange.finish()
    /// ```
    ///
    /// Apart from the body, this behaves like ``respond(_:)``. The server holds the exchange until the exchange has ended.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The fields of the header.
    ///   - count: The number of bytes of the body, sent as `Content-Length`; exactly that many bytes must be written. With nil, the
    ///     body is sent in chunks.
    /// - Returns: True if this answers the request.
    @discardableResult
    public func begin(status: Int = 200, fields: HTTPFields = [:], count: Int? = nil) -> Bool {
        requireOwnThread("HTTPExchange.begin")
        if let count, count < 0 {
            misuse("HTTPExchange.begin: the count \(count) is negative; pass nil if it is not known")
        }
        return exchange.answer(.stream(status, fields, count))
    }

    /// Writes the next bytes of an answer that has begun.
    ///
    /// The bytes are sent after all bytes that were written before. This call never waits.
    ///
    /// - Parameter bytes: The bytes. The array is retained, not copied.
    /// - Returns: False if a writer should wait, because more than 64 KiB are unsent: write no more until the handler of
    ///   ``onDrained(_:)`` is called. Also false if the exchange has ended or was finished; in that case, the bytes are discarded.
    /// - Precondition: The answer was begun.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        requireOwnThread("HTTPExchange.write")
        requireStream("HTTPExchange.write")
        return exchange.write(bytes)
    }

    /// Writes a text, in UTF-8, as the next bytes of an answer that has begun.
    ///
    /// Apart from that, this method behaves like ``write(_:)-([UInt8])``.
    ///
    /// - Parameter text: The text.
    /// - Returns: False in the same cases as for ``write(_:)-([UInt8])``.
    @discardableResult @_disfavoredOverload
    public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Ends the body of an answer that has begun.
    ///
    /// The bytes that were written before are still sent.
    ///
    /// - Precondition: The answer was begun.
    public func finish() {
        requireOwnThread("HTTPExchange.finish")
        requireStream("HTTPExchange.finish")
        exchange.finishStream()
    }

    /// Ends the exchange immediately, so that the client sees that the answer is incomplete.
    ///
    /// The connection is closed. If the request was not answered before, it can no longer be answered.
    public func abort() {
        requireOwnThread("HTTPExchange.abort")
        exchange.abort()
    }

    /// Sets the handler that is called when a writer of the answer's body may continue.
    ///
    /// After the unsent bytes have exceeded 64 KiB, a writer should wait. It may continue when they have fallen to half of that.
    ///
    /// - Parameter handler: Called with the exchange, each time that a writer may continue.
    public func onDrained(_ handler: @escaping (HTTPExchange) -> Void) {
        requireOwnThread("HTTPExchange.onDrained")
        if exchange.isOpen { exchange.contents.handlers.drained.replace(with: handler) }
    }

    /// The number of written bytes that the server has not begun to send.
    public var unsentByteCount: Int { exchange.contents.stream?.output.count ?? 0 }

    // MARK: - Events for browsers

    /// Begins a stream of events, which browsers read with `EventSource`.
    ///
    /// The server notices that a client leaves even while no event is sent.
    ///
    /// A proxy between the server and the client may close an idle stream. To prevent this, send an event, or a comment with
    /// ``sendComment(_:)``, from time to time.
    ///
    /// - Parameter fields: Further fields of the header.
    /// - Returns: True if this answers the request.
    @discardableResult
    public func beginEvents(fields: HTTPFields = [:]) -> Bool {
        var fields = fields
        fields["Content-Type"] = "text/event-stream"
        if fields["Cache-Control"] == nil { fields["Cache-Control"] = "no-store" }
        return begin(fields: fields)
    }

    /// Sends an event to the browser.
    ///
    /// - Parameter event: The event.
    /// - Returns: False in the same cases as for ``write(_:)-([UInt8])``.
    /// - Precondition: The stream of events was begun.
    @discardableResult
    public func send(_ event: HTTPServer.Event) -> Bool { write(event.lines) }

    /// Sends a comment, which browsers ignore, so that the connection is not idle.
    ///
    /// - Parameter text: The text; its line breaks are removed.
    /// - Returns: False in the same cases as for ``write(_:)-([UInt8])``.
    /// - Precondition: The stream of events was begun.
    @discardableResult
    public func sendComment(_ text: String = "") -> Bool { write(": \(text.filter { !$0.isNewline })\n\n") }

    private func requireStream(_ member: StaticString) {
        if exchange.isStream || !exchange.isOpen { return }
        misuse("\(member): the answer to \(request) was not begun; call HTTPExchange.begin before")
    }
}

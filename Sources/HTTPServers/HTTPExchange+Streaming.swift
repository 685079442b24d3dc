#if HTTPServers
    public import HTTPTypes
    internal import RunLoops
    internal import Streams

    extension HTTPExchange {
        /// Begins a response whose body is written while it is sent.
        ///
        /// ```swift
        /// exchange.beginResponse(headerFields: [.contentType: "text/csv"])
        /// exchange.write("1,2\n")
        /// exchange.endBody()
        /// ```
        ///
        /// Apart from the body, this behaves like ``respond(_:)``. The server holds the exchange until the exchange has ended.
        ///
        /// For a request with the method `HEAD`, and with a status that allows no body, the header is the whole response: the exchange
        /// ends when it is sent, and what is written is discarded.
        ///
        /// - Parameters:
        ///   - status: The status.
        ///   - headerFields: The fields of the header.
        ///   - contentLength: The number of bytes of the body; exactly that many bytes must be written. With nil, the body is sent in
        ///     chunks.
        /// - Returns: True if this answers the request.
        @discardableResult
        public func beginResponse(
            status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], contentLength: Int? = nil
        ) -> Bool {
            requireOwnThread("HTTPExchange.beginResponse")
            if let contentLength, contentLength < 0 {
                misuse(
                    "HTTPExchange.beginResponse: the length \(contentLength) is negative; pass nil if it is not known"
                )
            }
            return exchange.beginStream(status, headerFields, contentLength, self)
        }

        /// Writes the next bytes of a response that has begun.
        ///
        /// The bytes are sent after all bytes that were written before. This call never waits. If 4 MiB or more are unsent, the client
        /// reads too slowly, and the exchange ends with ``EndReason/failed``.
        ///
        /// - Parameter bytes: The bytes. A large array is retained, not copied.
        /// - Returns: False if a writer should wait, because more than 64 KiB are unsent: write no more until the handler of
        ///   ``onDrained(_:)`` is called. Also false if the exchange has ended or its body was ended; in that case, the bytes are
        ///   discarded.
        /// - Precondition: The response was begun.
        @discardableResult
        public func write(_ bytes: [UInt8]) -> Bool {
            requireStream("HTTPExchange.write")
            return exchange.write(bytes.count) { $0.write(bytes) }
        }

        /// Writes bytes, which are copied, as the next bytes of a response that has begun.
        ///
        /// Apart from that, this method behaves like ``write(_:)-([UInt8])``.
        ///
        /// - Parameter bytes: The bytes, such as those that a handler was given.
        /// - Returns: False in the same cases as for ``write(_:)-([UInt8])``.
        @discardableResult
        public func write(_ bytes: RawSpan) -> Bool {
            requireStream("HTTPExchange.write")
            return exchange.write(bytes)
        }

        /// Writes a string literal, in UTF-8, as the next bytes of a response that has begun.
        ///
        /// Apart from that, this method behaves like ``write(_:)-([UInt8])``.
        ///
        /// - Parameter text: The text.
        /// - Returns: False in the same cases as for ``write(_:)-([UInt8])``.
        @discardableResult
        public func write(_ text: StaticString) -> Bool {
            requireStream("HTTPExchange.write")
            return exchange.write(text.utf8CodeUnitCount) { $0.write(text) }
        }

        /// Writes a text, in UTF-8, as the next bytes of a response that has begun.
        ///
        /// Apart from that, this method behaves like ``write(_:)-([UInt8])``.
        ///
        /// - Parameter text: The text.
        /// - Returns: False in the same cases as for ``write(_:)-([UInt8])``.
        @discardableResult @_disfavoredOverload
        public func write(_ text: some StringProtocol) -> Bool {
            requireStream("HTTPExchange.write")
            return exchange.write(text.utf8.count) { $0.write(text) }
        }

        /// Ends the body of a response that has begun.
        ///
        /// The bytes that were written before are still sent.
        ///
        /// - Precondition: The response was begun.
        public func endBody() {
            requireStream("HTTPExchange.endBody")
            exchange.endStream()
        }

        /// Sets the handler that is called when a writer of the response's body may continue.
        ///
        /// After the unsent bytes have exceeded 64 KiB, a writer should wait. It may continue when they have fallen to half of that.
        ///
        /// - Parameter handler: Called with the exchange, each time that a writer may continue.
        public func onDrained(_ handler: @escaping (HTTPExchange) -> Void) {
            requireOwnThread("HTTPExchange.onDrained")
            if exchange.isOpen { exchange.handlers.drained.replace(with: handler) }
        }

        /// The number of written bytes that the kernel has not accepted, with those around them that mark chunks.
        public var unsentByteCount: Int {
            exchange.isStream && isOpen ? exchange.link.connection.unsentByteCount : 0
        }

        // MARK: - Events for browsers

        /// Begins a stream of events, which browsers read with `EventSource`.
        ///
        /// The server notices that a client leaves even while no event is sent.
        ///
        /// A proxy between the server and the client may close an idle stream. To prevent this, send an event, or a comment with
        /// ``sendComment(_:)``, from time to time.
        ///
        /// - Parameter headerFields: Further fields of the header.
        /// - Returns: True if this answers the request.
        @discardableResult
        public func beginEvents(headerFields: HTTPFields = [:]) -> Bool {
            var fields = headerFields
            fields[.contentType] = "text/event-stream"
            if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
            return beginResponse(headerFields: fields)
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
        public func sendComment(_ text: String = "") -> Bool {
            write(": \(HTTPServer.Event.oneLine(text))\n\n")
        }

        private func requireStream(_ member: StaticString) {
            requireOwnThread(member)
            if exchange.isStream || !exchange.isOpen { return }
            if case .written = exchange.response { return }
            misuse(
                "\(member): the response to \(request) was not begun; call HTTPExchange.beginResponse before")
        }
    }
#endif

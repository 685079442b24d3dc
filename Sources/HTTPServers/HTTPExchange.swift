#if HTTPServers
    public import HTTPTypes
    public import RunLoops
    public import Streams
    internal import Synchronization

    /// A request and its response.
    ///
    /// A server passes an exchange to its handlers. Answer each exchange once: immediately or later with ``respond(_:)``, from another
    /// thread or a task with ``makeResponder()``, piece by piece with ``beginResponse(status:headerFields:contentLength:)``, or with an
    /// upgrade to another protocol.
    ///
    /// An unanswered request gets status 500 as soon as the handler of requests has returned and your code holds neither the exchange
    /// nor a responder of it.
    ///
    /// Once a streamed response has begun, the server holds the exchange until the exchange has ended.
    ///
    /// > Thread safety: the thread of the server's loop only, except for ``cancel()``.
    public final class HTTPExchange {
        let exchange: Exchange

        /// The request.
        ///
        /// Its body is complete when the handler of requests is called.
        public var request: HTTPServer.Request { exchange.request }

        init(_ exchange: Exchange) { self.exchange = exchange }

        deinit {
            if exchange.loop.isCurrent {
                // A forked child has the memory of the server, but not its loop.
                if !Fork.isChild { exchange.faceIsGone() }
                return
            }
            // Only the thread of the loop may access the exchange, but this is another thread.
            let last = HandedOver(exchange: exchange)
            exchange.loop.doLast { last.exchange.faceIsGone() }
        }

        /// An exchange that another thread passes to the thread of the loop.
        ///
        /// `@unchecked`: only the thread of the loop uses the exchange.
        private struct HandedOver: @unchecked Sendable { let exchange: Exchange }

        /// The address of the client.
        public var peerAddress: SocketAddress { exchange.link.peerAddress }

        /// True until the exchange ends or is cancelled.
        ///
        /// For example, an exchange ends when the complete response has been given to the kernel, or when the client has left.
        public var isOpen: Bool { exchange.isOpen }

        /// True once the request was answered, or its response has begun.
        public var hasResponse: Bool { exchange.hasResponse }

        // MARK: - Whole responses

        /// Answers the request.
        ///
        /// If the request was answered before or the client has left, this method does nothing, and returns false.
        ///
        /// A field cannot add another field, because HTTPTypes replaces what is not allowed in values. A response with a status that is
        /// none, or with a field that only the server sets, is not sent: the client gets status 500, and
        /// ``/RunLoops/RunLoopDiagnostics`` reports the reason.
        ///
        /// - Parameter response: The response.
        /// - Returns: True if this answers the request.
        @discardableResult
        public func respond(_ response: HTTPServer.Response) -> Bool {
            requireOwnThread("HTTPExchange.respond")
            return exchange.answer(response)
        }

        /// Answers the request with the rest of a regular file, which is read piece by piece while the client receives it.
        ///
        /// Apart from the body, this behaves like ``respond(_:)``.
        ///
        /// - Parameters:
        ///   - file: The file, which is sent from its offset to its end, and then closed.
        ///   - status: The status.
        ///   - headerFields: The fields of the header.
        /// - Returns: True if this answers the request. If the descriptor does not refer to a regular file, the client gets
        ///   status 500, and the result is also true.
        @discardableResult
        public func respond(
            file: consuming OwnedDescriptor, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:]
        ) -> Bool {
            requireOwnThread("HTTPExchange.respond")
            return exchange.answer(FileBody(file), status, headerFields)
        }

        /// Returns an object with which any thread can answer the request.
        ///
        /// - Returns: The responder. If it is released without a response, and your code holds neither the exchange nor another
        ///   responder, the client gets status 500.
        public func makeResponder() -> HTTPResponder {
            requireOwnThread("HTTPExchange.makeResponder")
            return HTTPResponder(exchange)
        }

        /// Answers the request with the result of a task, which may call actors.
        ///
        /// The task is not cancelled if the client leaves.
        ///
        /// - Parameter work: Called in a new task with the request.
        public func respond(with work: @escaping @Sendable (HTTPServer.Request) async -> HTTPServer.Response)
        {
            let responder = makeResponder()
            let request = request
            Task { responder.respond(await work(request)) }
        }

        /// Ends the exchange immediately, so that the client sees that the response is incomplete.
        ///
        /// The connection is closed. If the request was not answered before, it can no longer be answered. The handler of ``onEnd(_:)``
        /// is called with ``EndReason/cancelled``, but never during this call. On another thread than the loop's, the exchange takes no
        /// response any more when this call has returned, and ends when the loop next runs.
        ///
        /// > Thread safety: any thread.
        public func cancel() {
            if exchange.loop.isCurrent { return exchange.fail(.cancelled) }
            // Without the mark, the release of the last exchange could answer with status 500 meanwhile.
            exchange.isCancelled.store(true, ordering: .relaxed)
            let last = HandedOver(exchange: exchange)
            exchange.loop.doLast { last.exchange.fail(.cancelled) }
        }

        // MARK: - Events

        /// Sets the handler that is called when the exchange has ended.
        ///
        /// - Parameter handler: Called once, after all other handlers of the exchange, with the exchange and the reason that it has
        ///   ended.
        public func onEnd(_ handler: @escaping (HTTPExchange, EndReason) -> Void) {
            requireOwnThread("HTTPExchange.onEnd")
            if exchange.isOpen { exchange.handlers.end.replace(with: handler) }
        }

        /// Sets the handler that is called with the bytes of the request's body.
        ///
        /// The body is then streamed to the handler, and not collected in ``request``.
        ///
        /// - Parameter handler: Called with the exchange and one or more bytes, which are valid until the handler returns.
        /// - Precondition: Called inside the handler of ``HTTPServer/onHeader(_:)``.
        public func onData(_ handler: @escaping (HTTPExchange, RawSpan) -> Void) {
            requireOwnThread("HTTPExchange.onData")
            if !exchange.due.contains(.choice) {
                misuse(
                    "HTTPExchange.onData: the body is collected already; call it in the handler of HTTPServer.onHeader"
                )
            }
            exchange.handlers.data.replace(with: handler)
        }

        /// True if the delivery of a streamed body is paused; false at first.
        ///
        /// The server continues to receive until 128 KiB are stored. Then it stops receiving, so that the client has to wait.
        public var isReadingPaused: Bool {
            get { exchange.isReadingPaused }
            set {
                requireOwnThread("HTTPExchange.isReadingPaused")
                exchange.isReadingPaused = newValue
                if !newValue { exchange.link.goesOn() }
            }
        }

        func requireOwnThread(_ member: StaticString) {
            exchange.loop.requireOwnThread(
                member, "perform a block on the loop of the server and call it there")
        }
    }

    @available(*, unavailable)
    extension HTTPExchange: Sendable {}

    extension HTTPExchange: HashableByIdentity {
        package var identity: ObjectIdentifier { ObjectIdentifier(exchange) }
    }

    extension HTTPExchange: CustomStringConvertible {
        /// A description with the request.
        public var description: String { "\(isOpen ? "" : "ended ")exchange of \(request)" }
    }
#endif

#if HTTPServers
    internal import RunLoops
    internal import Synchronization

    /// An object that answers one request, from any thread.
    ///
    /// ``HTTPExchange/makeResponder()`` makes a responder. Only the first response to the request counts. If the responder is released
    /// without a response, and your code holds neither the exchange nor another responder, the client gets status 500.
    ///
    /// > Thread safety: any thread.
    public final class HTTPResponder: Sendable {
        /// The exchange to answer; nil once this responder has answered.
        private let target: Mutex<Target?>
        private let loop: RunLoop

        /// An exchange that any thread may hold, but not use.
        ///
        /// `@unchecked`: only the thread of the loop uses the exchange.
        private struct Target: @unchecked Sendable { let exchange: Exchange }

        init(_ exchange: Exchange) {
            loop = exchange.loop
            target = Mutex(Target(exchange: exchange))
            exchange.holders.responders += 1
        }

        deinit {
            guard let target = target.withLock({ $0.take() }) else { return }
            loop.doLast { target.exchange.responderIsGone() }
        }

        /// Answers the request.
        ///
        /// The response is sent when the loop next runs in the server's mode. If the client has left by then, the response is discarded.
        ///
        /// - Parameter response: The response, as for ``HTTPExchange/respond(_:)``.
        /// - Returns: False if this responder has answered before, or the thread of the loop has ended. If the request was answered in
        ///   another way before, the result is still true, and the response is discarded.
        @discardableResult
        public func respond(_ response: HTTPServer.Response) -> Bool {
            guard let target = target.withLock({ $0.take() }) else { return false }
            // The block may run in every mode, because it calls no user code. The server sends the answer in its own mode.
            return loop.performInEveryMode {
                target.exchange.answer(response)
                target.exchange.responderIsGone()
            }
        }
    }

    extension HTTPResponder: CustomStringConvertible {
        /// A description that says if this responder has answered.
        public var description: String {
            target.withLock { $0 == nil } ? "responder that has answered" : "responder"
        }
    }
#endif

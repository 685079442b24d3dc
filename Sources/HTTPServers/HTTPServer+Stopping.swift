#if HTTPServers
    internal import RunLoops
    internal import Streams

    extension HTTPServer {
        /// Stops accepting connections, answers the requests that have begun, and then invalidates the server.
        ///
        /// Connections that wait in the backlog are also served, unless another server that uses a socket from ``duplicateSocket()``
        /// accepts them first. Each connection is closed after its next response, or when nothing has arrived on it for half a second.
        /// Streamed responses continue to their end.
        ///
        /// If you call this method again while the server stops, the new handler is called, too. The new limit can shorten the
        /// remaining time, but not extend it.
        ///
        /// ```swift
        /// let stop = try GracefulStop(within: .seconds(30)) { stop in
        ///     server.stop(within: .seconds(25)) { _ in stop.finish() }
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - limit: The time after which the remaining requests are ended with ``HTTPExchange/EndReason/serverInvalidated``.
        ///   - onStopped: Called once with the server, when the server is invalid. If the server is already invalid, or is in no loop,
        ///     the handler is called before this method returns.
        ///
        /// > Thread safety: the loop's thread only; ``invalidate()`` ends a server on any thread.
        public func stop(
            within limit: Duration = .seconds(30), onStopped: @escaping (HTTPServer) -> Void = { _ in }
        ) {
            requireOwnThread("HTTPServer.stop")
            guard isValid, let loop = membership?.loop else {
                invalidate()
                return onStopped(self)
            }
            let deadline = ContinuousClock.now + limit
            if let stopping {
                stopping.handlers.append(onStopped)
                if deadline < stopping.timer.fireDate { stopping.timer.fireDate = deadline }
                return
            }
            listener.acceptBacklog(atMost: HTTPServer.backlogLimit)
            listener.invalidate()
            let timer = Timer(fireAt: deadline, interval: .zero, repeats: false) { [weak self] _ in
                self?.endHere()
            }
            stopping = Stopping(timer: timer, handler: onStopped)
            for mode in modes { loop.add(timer, forMode: mode) }
            for link in links.values { link.beginStopping() }
            if links.isEmpty { endSoon() }
        }

        /// Stops accepting connections, answers the requests that have begun, and then invalidates the server.
        ///
        /// The calling task must run on the thread of the loop, and is suspended until the server is invalid. In all other
        /// respects, this method behaves like ``stop(within:onStopped:)``.
        ///
        /// - Parameter limit: The time after which the remaining requests are ended with ``HTTPExchange/EndReason/serverInvalidated``.
        nonisolated(nonsending) public func stop(within limit: Duration = .seconds(30)) async {
            await withCheckedContinuation { continuation in
                stop(within: limit) { _ in continuation.resume() }
            }
        }

        /// The state of a server that stops: the timer of its deadline, and the handlers to call when the server is invalid.
        final class Stopping {
            let timer: Timer
            var handlers: [(HTTPServer) -> Void]

            init(timer: Timer, handler: @escaping (HTTPServer) -> Void) {
                self.timer = timer
                handlers = [handler]
            }
        }

        var isStopping: Bool { stopping != nil }

        /// The maximum number of connections that are accepted when the server stops.
        ///
        /// The backlog is bounded, but a client that connects again and again refills it, and must not delay the stop.
        private static var backlogLimit: Int { 4_096 }

        /// The time for which a connection must be quiet before a stopping server closes it.
        ///
        /// A connection is quiet while it has no request and no unread byte.
        static var quietTime: Duration { .milliseconds(500) }

        /// Makes the loop look if the stop is over, in a turn of the server.
        func endSoon() { membership?.input.becameReady() }

        /// Invalidates the server if it stops, and no connection is left.
        func endIfStopped() {
            if stopping != nil && links.isEmpty && turns.isEmpty && isValid { endHere() }
        }
    }
#endif

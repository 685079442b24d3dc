internal import CHTTPDaemon
internal import RunLoops

extension HTTPServer {
    /// Stops accepting connections, answers the requests that have begun, and then invalidates the server.
    ///
    /// Connections that wait in the backlog are also served, unless another server that uses a socket from ``duplicateSocket()``
    /// accepts them first. Each connection is closed after its next answer, or when nothing has arrived on it for half a second.
    /// Streamed answers continue to their end.
    ///
    /// If you call this method again while the server stops, the new handler is called, too. The new limit can shorten the
    /// remaining time, but not extend it.
    ///
    /// ```swift
    /// let stop = try GracefulStop(deadline: .seconds(30)) { stop in
    ///     server.stop(within: .seconds(25)) { _ in stop.finish() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The time after which the remaining requests are ended with ``HTTPExchange/EndReason/serverInvalidated``.
    ///   - onStopped: Called once with the server, when the server is invalid. If the server is already invalid, the handler is
    ///     called before this method returns.
    public func stop(
        within limit: Duration = .seconds(30), onStopped: @escaping (HTTPServer) -> Void = { _ in }
    ) {
        requireOwnThread("HTTPServer.stop")
        if !isValid { return onStopped(self) }
        let deadline = ContinuousClock.now + limit
        if let stopping {
            stopping.handlers.append(onStopped)
            stopping.deadline = min(stopping.deadline, deadline)
        } else {
            acceptBacklog()
            stopAccepting()
            stopping = Stopping(deadline: deadline, handler: onStopped)
            sweepDate = nil
        }
        wakeDaemon()
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

    /// The state of a server that stops: the deadline, and the handlers to call when the server is invalid.
    final class Stopping {
        var deadline: ContinuousClock.Instant
        var handlers: [(HTTPServer) -> Void]

        init(deadline: ContinuousClock.Instant, handler: @escaping (HTTPServer) -> Void) {
            self.deadline = deadline
            handlers = [handler]
        }
    }

    /// Accepts the connections in the backlog, which the kernel would reset when the listening socket is closed.
    private func acceptBacklog() {
        // The length of the backlog is bounded, but a client that connects again and again refills it. The limit of the iterations
        // prevents such a client from delaying the stop.
        for _ in 0..<4_096 where links.count < options.connectionLimit {
            if !runloops_socket_has_connection(listeningSocket) { return }
            runDaemon()
        }
    }

    func stopAccepting() {
        guard listeningSocket >= 0 else { return }
        listeningSocket = -1
        let socket = unsafe runloops_daemon_stop_accepting(daemon)
        if socket >= 0 { runloops_socket_close(socket) }
    }

    /// Invalidates the server if no connection is left, or if the deadline for stopping has passed.
    func goOnStopping(_ now: ContinuousClock.Instant) {
        guard let stopping else { return }
        if links.isEmpty || now >= stopping.deadline { source?.invalidate() }
    }
}

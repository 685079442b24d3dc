#if Lifecycle
    public import RunLoops
    public import ServiceLifecycle
    public import Streams

    /// A service that listens for connections, for a service group to run.
    ///
    /// ```swift
    /// let worker = try RunLoopThread(name: "worker")
    /// let listener = try ListenerService(.tcp(port: 8080), on: worker.runLoop) { accepted in
    ///     serve(Connection(accepted))
    /// }
    /// let group = ServiceGroup(
    ///     services: [worker, listener], gracefulShutdownSignals: [.sigterm], logger: logger)
    /// try await group.run()
    /// ```
    ///
    /// At a graceful shutdown the listener is closed, so that new connections are refused. The service ends when its last
    /// connection has ended. The group's `maximumGracefulShutdownDuration` limits this time. A group shuts its services down in
    /// reverse order, so list the listener after the thread whose loop it uses.
    ///
    /// > Thread safety: any thread.
    public final class ListenerService: Service {
        /// The address that the listener listens on, with the port that the kernel has chosen.
        public let localAddress: SocketAddress

        private let host: ListenerHost

        /// Opens a listening socket.
        ///
        /// Connections wait in the kernel's backlog until the service runs.
        ///
        /// - Parameters:
        ///   - address: The address to listen on.
        ///   - options: The settings and limits.
        ///   - loop: The loop that accepts the connections.
        ///   - mode: The mode in which the loop accepts them.
        ///   - onShutdown: Called on the loop's thread when the listener has been closed at a graceful shutdown. Use it to close
        ///     the connections that are waiting for a request; the service ends when all connections have ended.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        ///   - handler: Called on the loop's thread with each accepted socket. A socket that the handler does not keep is closed.
        /// - Throws: `SystemError`, for the same reasons as the initializer of `Listener`.
        public init(
            _ address: Listener.Address, options: Listener.Options = Listener.Options(), on loop: RunLoop,
            forMode mode: RunLoop.Mode = .default, onShutdown: @escaping @Sendable () -> Void = {},
            fileID: StaticString = #fileID, line: Int = #line,
            handler: @escaping @Sendable (consuming AcceptedSocket) -> Void
        ) throws(SystemError) {
            let listener = try Listener(address, options: options, fileID: fileID, line: line)
            localAddress = listener.localAddress
            host = ListenerHost(listener, on: loop, mode, handler, onShutdown)
        }

        /// Accepts connections until the service group shuts down, and then waits until the connections have ended.
        ///
        /// If the task is cancelled, the listener is closed and the method returns; the connections continue until other code ends
        /// them. The method also returns when the loop's thread ends. A service can run only once.
        ///
        /// - Throws: `SystemError` if the kernel refuses to watch the socket; `PerformError` if the loop's thread has ended, or if
        ///   the task was cancelled before the listener began to accept.
        public func run() async throws {
            let end = OneShot<Void>()
            let (loop, host) = (host.loop, host)
            // After a cancellation, `performAndWait` below throws. Its block can still run later, and then adds the listener to the
            // loop. In that case, too, this closes the listener.
            defer { loop.perform { host.assumeIsolated { $0.close() } } }
            try await loop.performAndWait { try host.assumeIsolated { try $0.start(endingWith: end) } }
            await withGracefulShutdownHandler {
                await end.value(before: .never, timedOut: (), cancelled: ()) {}
            } onGracefulShutdown: {
                loop.perform { host.assumeIsolated { $0.shutDown(endingWith: end) } }
            }
        }
    }

    extension ListenerService: CustomStringConvertible {
        /// The address that the listener listens on.
        public var description: String { "listener service at \(localAddress)" }
    }
#else
    /// A placeholder for this type, which is available only with the package trait `Lifecycle`.
    @available(
        *, unavailable,
        message: "name the trait where you name the package: .package(url: …, traits: [\"Lifecycle\"])"
    )
    public enum ListenerService: Sendable {}
#endif

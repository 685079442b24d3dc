#if Lifecycle
    internal import RunLoops
    internal import Streams

    /// The actor that holds the listener of a ``ListenerService``, and runs on the listener's loop.
    actor ListenerHost {
        nonisolated let loop: RunLoop
        private let mode: RunLoop.Mode
        private let handler: @Sendable (consuming AcceptedSocket) -> Void
        private let onShutdown: @Sendable () -> Void
        /// The listener; nil once it has been closed.
        private var listener: Listener?
        private var hasStarted = false
        private var watch: RunLoop.EndHandler?

        // Safe: the executor does not retain the loop, but the actor does.
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(
            _ listener: sending Listener, on loop: RunLoop, _ mode: RunLoop.Mode,
            _ handler: @escaping @Sendable (consuming AcceptedSocket) -> Void,
            _ onShutdown: @escaping @Sendable () -> Void
        ) {
            self.loop = loop
            self.mode = mode
            self.handler = handler
            self.onShutdown = onShutdown
            self.listener = listener
        }

        /// Begins to accept connections.
        ///
        /// - Parameter end: The one-shot that is decided when the loop's thread ends.
        /// - Throws: `SystemError` if the kernel refuses to watch the socket.
        func start(endingWith end: OneShot<Void>) throws {
            guard !hasStarted, let listener else {
                misuse("ListenerService.run: the service runs a second time; make a new one")
            }
            hasStarted = true
            try loop.add(listener, forMode: mode) { [handler] in handler($0) }
            watch = loop.addEndHandler { [weak self] in
                // The loop's thread runs this handler, and the listener belongs to that thread.
                self?.assumeIsolated { $0.listener = nil }
                end.decide(())
            }
        }

        /// Closes the listener.
        ///
        /// - Parameter end: The one-shot that is decided when the listener's last connection has ended.
        func shutDown(endingWith end: OneShot<Void>) {
            guard let listener else { return }
            self.listener = nil
            listener.invalidate(whenDrained: { end.decide(()) })
            onShutdown()
        }

        /// Closes the listener without waiting for its connections.
        func close() {
            watch?.cancel()
            watch = nil
            listener?.invalidate()
            listener = nil
        }
    }
#endif

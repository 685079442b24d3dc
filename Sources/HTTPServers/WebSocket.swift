#if HTTPServers
    internal import RunLoops
    public import Streams

    /// A connection that carries messages of the WebSocket protocol (RFC 6455) between a client, such as a browser, and this server.
    ///
    /// ```swift
    /// exchange.upgradeToWebSocket { socket in
    ///     socket.onMessage { socket, message in
    ///         if case .text(let text) = message { socket.send(text) }
    ///     }
    ///     socket.onEnd { _, reason in print(reason) }
    /// }
    /// ```
    ///
    /// ``HTTPExchange/upgradeToWebSocket(headerFields:options:onUpgraded:)`` makes it. The loop of the server serves it, in the modes that
    /// the server is in at that time, until it ends; it also goes on when the server stops.
    ///
    /// Handlers are called one after the other, never one inside another, even if a handler runs the loop. A handler may do anything:
    /// send, pause, close the socket, replace handlers, run the loop. Each message, ping and frame is a step of its own, between which other
    /// inputs of the loop have their turn.
    ///
    /// Pings of the client are answered. Messages are not compressed.
    ///
    /// For more, see <doc:WebSockets>.
    ///
    /// > Thread safety: ``reset()`` from any thread. All other members from the loop's thread only.
    public final class WebSocket {
        /// The limits.
        public let options: Options

        /// The address of the client.
        public let peerAddress: SocketAddress

        private let connection: Connection
        private let loop: RunLoop
        private let modes: [RunLoop.Mode]
        private var input: WebSocketInput
        private var phase = Phase.open
        var handlers = Handlers()

        /// How far the closing has come.
        private enum Phase {
            case open
            /// Your code has closed the socket, and the client has not answered.
            case closing(Timer?)
            /// The last frame is written, and the connection is being closed.
            case closed(EndReason)
            case ended
        }

        struct Handlers {
            var message: ((WebSocket, Message) -> Void)?
            var pong: ((WebSocket, [UInt8]) -> Void)?
            var drained: ((WebSocket) -> Void)?
            var ended: ((WebSocket, EndReason) -> Void)?
        }

        init(
            _ connection: Connection, peer: SocketAddress, options: Options, _ loop: RunLoop,
            _ modes: [RunLoop.Mode]
        ) {
            self.connection = connection
            self.options = options
            self.loop = loop
            self.modes = modes
            peerAddress = peer
            input = WebSocketInput(messageByteLimit: options.messageByteLimit)
        }

        /// Adds the connection to the loop, which holds it from now on, and with it this object.
        func begin() {
            connection.onDrained { [self] _ in handlers.drained?(self) }
            connection.onEnd { [self] _, reason in didEnd(reason) }
            takeNext()
            do throws(SystemError) {
                for mode in modes { try loop.add(connection, forMode: mode) }
            } catch {
                connection.reset()
                didEnd(.failed(error))
            }
        }

        // MARK: - Sending

        var hasEnded: Bool { if case .ended = phase { true } else { false } }

        /// True until one of both ends has begun to close.
        public var isOpen: Bool { if case .open = phase { connection.isOpen } else { false } }

        /// Sends a text.
        ///
        /// - Parameter text: The text.
        /// - Returns: False if so many bytes are unsent that a sender should wait for ``onDrained(_:)``, or if the socket is not open any
        ///   more; in that case, nothing is sent.
        @discardableResult
        public func send(_ text: some StringProtocol) -> Bool {
            requireOwnThread("WebSocket.send")
            guard isOpen else { return false }
            connection.write(WebSocketFrame.header(.text, count: text.utf8.count))
            return connection.write(text)
        }

        /// Sends bytes.
        ///
        /// - Parameter bytes: The bytes.
        /// - Returns: False in the same cases as for a text.
        @discardableResult
        public func send(_ bytes: [UInt8]) -> Bool {
            requireOwnThread("WebSocket.send")
            return isOpen && write(.binary, bytes)
        }

        /// Sends bytes, which are copied.
        ///
        /// - Parameter bytes: The bytes.
        /// - Returns: False in the same cases as for a text.
        @discardableResult
        public func send(_ bytes: RawSpan) -> Bool {
            requireOwnThread("WebSocket.send")
            guard isOpen else { return false }
            connection.write(WebSocketFrame.header(.binary, count: bytes.byteCount))
            return connection.write(bytes)
        }

        /// Sends a ping, which the client answers with a pong, so that the connection is not idle.
        ///
        /// - Parameter bytes: At most 125 bytes, which come back with the pong.
        /// - Returns: False in the same cases as for a text.
        @discardableResult
        public func ping(_ bytes: [UInt8] = []) -> Bool {
            requireOwnThread("WebSocket.ping")
            if bytes.count > WebSocketFrame.controlLimit {
                misuse(
                    "WebSocket.ping: \(bytes.count) bytes; a ping carries at most \(WebSocketFrame.controlLimit)"
                )
            }
            return isOpen && write(.ping, bytes)
        }

        /// The number of bytes that the kernel has not accepted, with the headers of frames.
        public var unsentByteCount: Int { connection.unsentByteCount }

        /// True if receiving is paused; false at first.
        ///
        /// Once the kernel's buffers are full, the client has to wait. A socket that is being closed is not paused.
        public var isReadingPaused: Bool {
            get { connection.isReadingPaused }
            set {
                requireOwnThread("WebSocket.isReadingPaused")
                guard case .open = phase else { return }
                if newValue { connection.isReadingPaused = true } else { connection.isReadingPaused = false }
            }
        }

        @discardableResult
        private func write(_ opcode: WebSocketFrame.Opcode, _ bytes: [UInt8]) -> Bool {
            connection.write(WebSocketFrame.header(opcode, count: bytes.count))
            return connection.write(bytes)
        }

        // MARK: - Receiving

        /// Lets the connection give its next bytes, also those that wait already, in a step of their own.
        private func takeNext() {
            connection.onReceive { [self] _, bytes in
                var consumed = 0
                do throws(CloseCode) {
                    if let event = try input.next(in: bytes, consumed: &consumed) { handle(event) }
                } catch {
                    consumed = bytes.byteCount
                    fail(error)
                }
                if consumed < bytes.byteCount { takeNext() }
                return consumed
            }
        }

        private func handle(_ event: WebSocketInput.Event) {
            switch (event, phase) {
            case (.message(let message), .open): handlers.message?(self, message)
            case (.ping(let bytes), .open): write(.pong, bytes)
            case (.pong(let bytes), .open): handlers.pong?(self, bytes)
            case (.close(let code, let reason), .open):
                write(.close, code.map { WebSocketFrame.closing($0, "") } ?? [])
                finish(.closed(code, reason: reason))
            case (.close(let code, let reason), .closing): finish(.closed(code, reason: reason))
            case (_, .closing), (_, .closed), (_, .ended): break
            }
        }

        private func fail(_ code: CloseCode) {
            if case .open = phase { write(.close, WebSocketFrame.closing(code, "")) }
            finish(.failed(code))
        }

        // MARK: - Ends

        /// Closes the socket: tells the client, waits for its answer, and closes the connection.
        ///
        /// What was sent before still arrives. What the client sends before its answer is discarded. If the socket is not open, this method
        /// does nothing.
        ///
        /// - Parameters:
        ///   - code: Why the socket is closed.
        ///   - reason: A text for the client's developers, of at most 123 bytes in UTF-8.
        /// - Precondition: The code is one that an end may send: 1000 to 1003, 1007 to 1014, or 3000 to 4999.
        public func close(code: CloseCode = .normal, reason: String = "") {
            requireOwnThread("WebSocket.close")
            if !code.maySend || reason.utf8.count > WebSocketFrame.controlLimit - 2 {
                misuse(
                    "WebSocket.close: code \(code) with \(reason.utf8.count) bytes of text; use 1000, or 3000 to 4999, and at most "
                        + "\(WebSocketFrame.controlLimit - 2) bytes")
            }
            guard isOpen else { return }
            write(.close, WebSocketFrame.closing(code, reason))
            connection.isReadingPaused = false
            let timer = options.closeTimeout.map { time in
                Timer(timeInterval: time, repeats: false) { [weak self] _ in
                    self?.finish(.timedOut)
                }
            }
            if let timer { for mode in modes { loop.add(timer, forMode: mode) } }
            phase = .closing(timer)
        }

        /// Resets the connection immediately, so that the client gets an error.
        ///
        /// > Thread safety: any thread.
        public func reset() { connection.reset() }

        private func finish(_ reason: EndReason) {
            if case .closing(let timer) = phase { timer?.invalidate() }
            phase = .closed(reason)
            connection.closeAfterWriting()
        }

        private func didEnd(_ reason: Connection.EndReason) {
            switch phase {
            case .open: end(.connectionEnded(reason))
            case .closing(let timer):
                timer?.invalidate()
                end(.connectionEnded(reason))
            case .closed(let known): end(known)
            case .ended: break
            }
        }

        private func end(_ reason: EndReason) {
            phase = .ended
            let last = handlers.ended
            handlers = Handlers()
            last?(self, reason)
        }

        func requireOwnThread(_ member: StaticString) {
            loop.requireOwnThread(member, "perform a block on the loop of the server and call it there")
        }
    }
#endif

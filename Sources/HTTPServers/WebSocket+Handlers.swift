#if HTTPServers
    public import RunLoops

    extension WebSocket {
        /// Sets the handler that is called with each message of the client.
        ///
        /// Without a handler, messages are discarded.
        ///
        /// - Parameter handler: Called with the socket and the message.
        public func onMessage(_ handler: @escaping (WebSocket, Message) -> Void) {
            requireOwnThread("WebSocket.onMessage")
            if isOpen { handlers.message.replace(with: handler) }
        }

        /// Sets the handler that is called when the client answers a ping.
        ///
        /// - Parameter handler: Called with the socket and the bytes of the ping.
        public func onPong(_ handler: @escaping (WebSocket, [UInt8]) -> Void) {
            requireOwnThread("WebSocket.onPong")
            if isOpen { handlers.pong.replace(with: handler) }
        }

        /// Sets the handler that is called when a sender may continue.
        ///
        /// After the unsent bytes have exceeded ``Options/highWaterMark``, a sender should wait. It may continue when they have fallen to
        /// half of that.
        ///
        /// - Parameter handler: Called with the socket, each time that a sender may continue.
        public func onDrained(_ handler: @escaping (WebSocket) -> Void) {
            requireOwnThread("WebSocket.onDrained")
            if isOpen { handlers.drained.replace(with: handler) }
        }

        /// Sets the handler that is called when the socket has ended.
        ///
        /// - Parameter handler: Called once, after all other handlers of the socket, with the socket and the reason that it has ended. It
        ///   is never called during a call that you make to the socket.
        public func onEnd(_ handler: @escaping (WebSocket, EndReason) -> Void) {
            requireOwnThread("WebSocket.onEnd")
            if !hasEnded { handlers.ended.replace(with: handler) }
        }
    }

    @available(*, unavailable)
    extension WebSocket: Sendable {}

    extension WebSocket: HashableByIdentity {}

    extension WebSocket: CustomStringConvertible {
        /// A description with the address of the client.
        public var description: String { "\(isOpen ? "" : "closed ")WebSocket with \(peerAddress)" }
    }
#endif

#if HTTPServers
    public import HTTPTypes
    internal import RunLoops
    internal import Streams

    extension HTTPExchange {
        /// Completes the hand-shake of the WebSocket protocol, and hands over a socket that sends and receives messages.
        ///
        /// ```swift
        /// exchange.upgradeToWebSocket { socket in
        ///     socket.onMessage { socket, message in
        ///         if case .text(let text) = message { socket.send(text) }
        ///     }
        /// }
        /// ```
        ///
        /// The loop serves the socket in the modes that the server is in at the time of this call, until the socket ends.
        ///
        /// If the request is not a WebSocket hand-shake, the client gets status 400, or 426 if it asks for a version other than 13.
        /// Pages of any site can ask for a WebSocket: compare the field `Origin` with your own sites, if clients log in with cookies.
        ///
        /// Apart from that, this method behaves like ``upgrade(to:headerFields:options:onUpgraded:)``.
        ///
        /// - Parameters:
        ///   - headerFields: Further fields of the header, such as `Sec-WebSocket-Protocol`.
        ///   - options: The limits of the socket.
        ///   - handler: Called with the socket, whose handlers it sets. If the client leaves before the call, the handler is not called.
        /// - Returns: True if this answers the request with status 101.
        @discardableResult
        public func upgradeToWebSocket(
            headerFields: HTTPFields = [:], options: WebSocket.Options = WebSocket.Options(),
            onUpgraded handler: @escaping (WebSocket) -> Void
        ) -> Bool {
            requireOwnThread("HTTPExchange.upgradeToWebSocket")
            guard request.method == .get, let key = request.headerFields[.secWebSocketKey],
                WebSocketKey.isKey(key)
            else {
                exchange.answer(.status(.badRequest))
                return false
            }
            if request.headerFields[.secWebSocketVersion] != "13" {
                exchange.answer(
                    HTTPServer.Response(status: .upgradeRequired, headerFields: [.secWebSocketVersion: "13"]))
                return false
            }
            var fields = headerFields
            fields[.secWebSocketAccept] = WebSocketKey.accept(key)
            let (loop, modes, peer) = (exchange.loop, exchange.link.server.modes, peerAddress)
            return upgrade(to: "websocket", headerFields: fields, options: options.connection) { connection in
                let socket = WebSocket(connection, peer: peer, options: options, loop, modes)
                handler(socket)
                socket.begin()
            }
        }
    }
#endif

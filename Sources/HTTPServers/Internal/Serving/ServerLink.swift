#if HTTPServers
    internal import DequeModule
    internal import RunLoops
    internal import Streams

    /// A connection that a server has accepted, and the request under way on it.
    ///
    /// The requests of a connection are decoded one by one: the next one, when the response to the one before was written. So what a
    /// client sends ahead waits as bytes, and costs no more than the bytes that are read at a time.
    ///
    /// > Thread safety: the loop's own thread only.
    final class ServerLink {
        let connection: Connection
        /// The server, which holds this object until the connection is closed.
        let server: HTTPServer
        let loop: RunLoop
        let peerAddress: SocketAddress
        let decoder: RequestDecoder
        var phase = Phase.waiting
        /// The exchanges whose responses were written, and that end when the kernel has accepted them, oldest first.
        var written = Deque<Written>()
        var clock = LinkClock()
        /// True while the link waits for its turn.
        var isQueued = false
        /// True if the client has ended its stream.
        var inputHasEnded = false

        /// What a connection is used for at the moment.
        enum Phase {
            /// No byte of the next request has come.
            case waiting
            /// The header of a request is being received.
            case head
            case exchange(Exchange)
            /// The response is an upgrade, and is being sent.
            case upgrading(Exchange)
            /// The upgrade is sent, and the connection is to be handed over.
            case upgraded(Exchange)
            /// The last response was written. What the client still sends is discarded.
            case closing
            case ended
        }

        /// An exchange whose response was written.
        struct Written {
            let exchange: Exchange
            /// The number of bytes of the connection up to the end of the response.
            let end: Int
        }

        /// The time for which a connection whose last request was received still reads what its client sends.
        private static var lingerTimeout: Duration { .seconds(1) }

        /// The maximum number of bytes that are read ahead of the request under way.
        static let readAhead = 16 << 10

        init(_ connection: Connection, _ peerAddress: SocketAddress, _ server: HTTPServer, _ loop: RunLoop) {
            self.connection = connection
            self.peerAddress = peerAddress
            self.server = server
            self.loop = loop
            decoder = RequestDecoder(LoopDecoding.of(loop), headerLimit: server.options.headerLimit)
        }

        /// Begins to serve the connection.
        func begin() {
            connection.readSize = ServerLink.readAhead
            connection.onSent { [unowned self] _ in didSend() }
            connection.onReceive { [self] _, bytes in
                decoder.append(bytes)
                if case .waiting = phase { beginHead() }
                takeTurn()
                return bytes.byteCount
            }
            connection.onInputEnd { [self] _ in
                inputHasEnded = true
                takeTurn()
            }
            connection.onDrained { [self] _ in
                if case .exchange(let exchange) = phase, exchange.isStream { exchange.due.insert(.drained) }
                takeTurn()
            }
            connection.onEnd { [self] _, reason in connectionHasEnded(reason) }
            setDeadline(.header, server.options.headerTimeout)
        }

        // MARK: - Turns

        /// Takes a step in a handler of the connection, and leaves further steps to the server's turns.
        private func takeTurn() {
            if server.mayCallHandlers { _ = step() } else { updateReading() }
            goesOn()
        }

        /// Queues the link if there is something to do at once.
        func goesOn() { if hasWork { server.enqueue(self) } }

        /// True if ``step()`` has something to do.
        private var hasWork: Bool {
            switch phase {
            case .upgraded: true
            case .upgrading, .closing, .ended: false
            case .waiting, .head: decoder.waitingCount > 0 ? !isFull : inputHasEnded
            case .exchange(let exchange):
                exchange.hasDue || exchange.takesBody && decoder.waitingCount > 0
                    || hasPieceToWrite(exchange) || seesClientLeave(exchange)
            }
        }

        /// True if the client reads too slowly for the next response.
        private var isFull: Bool { connection.unsentByteCount > connection.options.highWaterMark }

        private func hasPieceToWrite(_ exchange: Exchange) -> Bool {
            if case .file = exchange.response { !isFull } else { false }
        }

        /// True if a client has ended its stream, and the response waits for the program, or its request for more bytes.
        private func seesClientLeave(_ exchange: Exchange) -> Bool {
            guard inputHasEnded, decoder.waitingCount == 0 else { return false }
            if !exchange.isReceived { return exchange.takesBody }
            return exchange.isStream && connection.unsentByteCount == 0
        }

        /// Does the next thing: decodes at most the rest of one request, and calls at most one handler.
        ///
        /// - Returns: True if a handler was called.
        func step() -> Bool {
            defer { updateReading() }
            switch phase {
            case .upgraded(let exchange):
                handOver(exchange)
                return true
            case .upgrading, .closing, .ended: return false
            case .waiting, .head:
                if decoder.waitingCount == 0 || isFull {
                    closeIfClientHasEnded()
                    return false
                }
                if case .waiting = phase { beginHead() }
                decode()
            case .exchange(let exchange):
                if seesClientLeave(exchange) && !exchange.hasDue {
                    end(exchange, .clientLeft, resets: false)
                    return false
                }
                if hasPieceToWrite(exchange) {
                    exchange.writePiece()
                    return false
                }
                if exchange.hasDue { return exchange.deliver() }
                if exchange.takesBody && decoder.waitingCount > 0 { decode() }
            }
            guard case .exchange(let exchange) = phase else { return false }
            return exchange.deliver()
        }

        /// Pauses reading while enough bytes wait.
        private func updateReading() {
            if case .ended = phase { return }
            if case .closing = phase { return }
            let isEnough = decoder.waitingCount >= ServerLink.readAhead
            if isEnough == connection.isReadingPaused { return }
            if isEnough { connection.isReadingPaused = true } else { connection.isReadingPaused = false }
        }

        private func closeIfClientHasEnded() {
            guard inputHasEnded, decoder.waitingCount == 0 else { return }
            if case .head = phase { endPart(.clientLeft) }
            close()
        }

        // MARK: - Responses

        /// Records that the complete response of an exchange was written, and goes on with the next request.
        func responseIsWritten(_ exchange: Exchange) {
            let end = connection.sentByteCount + connection.unsentByteCount
            written.append(Written(exchange: exchange, end: end))
            // All bytes of a streamed response can have been sent before its end: then no further sending reports the end.
            endSent()
            if !exchange.account.keepsAlive || server.isStopping || !exchange.isReceived {
                return close(isReceived: exchange.isReceived && !exchange.account.isRefused)
            }
            phase = .waiting
            decoder.beginNext()
            setDeadline(.idle, server.options.idleTimeout)
            goesOn()
        }

        /// Closes the connection when everything is sent, and discards what the client still sends.
        ///
        /// - Parameter isReceived: False if the client can still be sending its request.
        func close(isReceived: Bool = true) {
            phase = .closing
            setDeadline(.none, nil)
            _ = decoder.takeRest()
            if isReceived { connection.options.lingerTimeout = ServerLink.lingerTimeout }
            connection.closeAfterWriting()
        }

        /// Waits until the response is sent, after which the connection changes hands.
        func awaitUpgrade(_ exchange: Exchange) {
            phase = .upgrading(exchange)
            setDeadline(.none, nil)
        }

        /// Ends the exchanges whose responses the kernel has accepted.
        private func endSent() {
            let sent = connection.sentByteCount
            while let first = written.first, first.end <= sent {
                written.removeFirst()
                first.exchange.end(.sent)
            }
        }

        /// Records that the kernel has accepted bytes; the connection and handlers must not be called.
        private func didSend() {
            endSent()
            if connection.unsentByteCount > 0 { return }
            if case .upgrading(let exchange) = phase { phase = .upgraded(exchange) }
            goesOn()
        }

        private func handOver(_ exchange: Exchange) {
            guard case .upgrade(let upgrade) = exchange.response else { return }
            phase = .ended
            leaveServer()
            connection.renew(withInput: decoder.takeRest(), options: upgrade.options)
            exchange.response = .written
            exchange.end(.sent)
            server.call { [connection] in upgrade.handler(connection) }
        }
    }
#endif

#if HTTPServers
    internal import DequeModule
    internal import RunLoops
    internal import Streams

    extension ServerLink {
        // MARK: - Times

        /// Sets the time that the client has for what the server waits for.
        ///
        /// - Parameters:
        ///   - kind: What the server waits for.
        ///   - time: The time from now on; nil for no limit.
        func setDeadline(_ kind: LinkClock.Kind, _ time: Duration?) {
            clock.kind = kind
            clock.time = time
            postpone(by: time)
        }

        private func postpone(by time: Duration?) {
            clock.deadline = time.map { Moment.now().advanced(by: max(0, $0.nanosecondsRoundedUp)) } ?? .never
            arm()
        }

        private func arm() {
            guard clock.deadline < clock.armedFor else { return }
            clock.armedFor = clock.deadline
            if let timer = clock.timer { return timer.fireDate = clock.deadline.instant }
            let timer = Timer(fireAt: clock.deadline.instant, interval: .zero, repeats: false) {
                [weak self] timer in
                // If the date were not changed, the timer would become invalid now, because it does not repeat.
                timer.fireDate = .distantFuture
                self?.timerFired()
            }
            clock.timer = timer
            for mode in server.modes { loop.add(timer, forMode: mode) }
        }

        private func timerFired() {
            clock.armedFor = .never
            if Moment.now() < clock.deadline { return arm() }
            // The client has sent something that waits for its turn, or for the client to read. Meanwhile the server waits for nothing.
            if isQueued || decoder.waitingCount > 0 { return postpone(by: clock.time) }
            switch clock.kind {
            case .none: return
            case .header: endAsSlow()
            case .body:
                guard case .exchange(let exchange) = phase else { return }
                // The client need not send while the program does not take the bytes.
                if exchange.body.isStreamed && exchange.isReadingPaused {
                    return setDeadline(.body, server.options.idleTimeout)
                }
                endAsSlow()
            case .idle, .quiet:
                // The client is still receiving the last response. If it does not read, the connection's own limit ends that.
                if connection.unsentByteCount > 0 { return postpone(by: clock.time) }
                // Timers are served before descriptors in a pass, so bytes may have come that are not received yet.
                if connection.hasUnreadInput { return postpone(by: .milliseconds(5)) }
                end(.timedOut, resets: false)
            }
        }

        private func endAsSlow() {
            server.statistics.slowConnections += 1
            end(.timedOut, resets: false)
        }

        // MARK: - Ends

        /// Ends an exchange, and its connection immediately.
        func end(_ exchange: Exchange, _ reason: HTTPExchange.EndReason, resets: Bool) {
            exchange.end(reason)
            end(reason, resets: resets)
        }

        /// Ends the connection immediately.
        func end(_ reason: HTTPExchange.EndReason, resets: Bool) {
            if case .ended = phase { return }
            endExchanges(reason)
            leaveServer()
            if resets { connection.reset() } else { connection.close() }
        }

        func connectionHasEnded(_ reason: Connection.EndReason) {
            if case .ended = phase { return }
            if reason == .timedOut(.connect) { server.statistics.slowConnections += 1 }
            let own: HTTPExchange.EndReason =
                switch reason {
                case .peerClosed, .reset, .incompleteInput: .clientLeft
                case .timedOut: .timedOut
                case .loopEnded: .serverInvalidated
                default: .failed
                }
            endExchanges(own)
            leaveServer()
        }

        private func endExchanges(_ reason: HTTPExchange.EndReason) {
            let ended = exchange(&phase, with: .ended)
            for last in written { last.exchange.end(reason) }
            written = []
            switch ended {
            case .exchange(let exchange), .upgrading(let exchange), .upgraded(let exchange):
                exchange.end(reason)
                // The handler of an upgrade can hold an object whose destruction calls the server.
                exchange.response = .written
            case .head: endPart(reason)
            case .waiting, .closing, .ended: break
            }
        }

        /// Records a request of which only a part of the header has come.
        func endPart(_ reason: HTTPExchange.EndReason) {
            if decoder.hasFirstLine { Exchange(self, nil, .over).end(reason) }
        }

        /// Takes the link out of its server's list.
        func leaveServer() {
            clock.timer?.invalidate()
            clock.timer = nil
            server.remove(self)
        }

        /// Prepares the link for the stop of its server: it closes after its next response, or when it is quiet.
        func beginStopping() {
            switch phase {
            case .waiting: setDeadline(.quiet, HTTPServer.quietTime)
            case .head, .exchange, .upgrading, .upgraded, .closing, .ended: break
            }
        }
    }

    /// The time that a client has for what a server waits for.
    struct LinkClock {
        /// What the server waits for.
        enum Kind {
            /// Nothing that has a limit.
            case none
            /// The header of a request, or the first byte of a connection.
            case header
            case body
            /// The next request.
            case idle
            /// The next request, while the server stops.
            case quiet
        }

        var kind = Kind.none
        /// The time that the client has.
        var time: Duration?
        var deadline = Moment.never
        /// The moment for which the timer is set, which may be earlier than the deadline.
        var armedFor = Moment.never
        var timer: Timer?
    }
#endif

#if HTTPServers
    internal import DequeModule
    internal import RunLoops
    internal import Streams

    extension HTTPServer: RungServer {
        /// The loop that a server belongs to, and its modes.
        struct Membership {
            let loop: RunLoop
            /// The input through which the loop serves the server's turns.
            let input: RungInput
            var modes: [RunLoop.Mode] = []
            let endHandler: RunLoop.EndHandler
        }

        /// The modes that the server is in.
        var modes: [RunLoop.Mode] { membership?.modes ?? [] }

        // MARK: - Modes

        func join(
            _ loop: RunLoop, _ mode: RunLoop.Mode, _ handler: @escaping (HTTPExchange) -> Void
        ) throws(SystemError) {
            if let membership, membership.loop !== loop {
                misuse(
                    "RunLoop.add(server): the \(self) belongs to another loop; make a server for each loop")
            }
            guard end.join(loop) else { return }
            if stopping == nil {
                try loop.add(listener, forMode: mode) { [self] accepted in accept(accepted) }
            }
            var membership =
                self.membership
                ?? Membership(
                    loop: loop, input: RungInput(in: loop),
                    endHandler: loop.addEndHandler { [weak self] in self?.loopEnds() })
            membership.input.join(mode, server: self)
            let isNew = !membership.modes.contains(mode)
            if isNew { membership.modes.append(mode) }
            self.membership = membership
            if isNew { for link in links.values { join(link, mode) } }
            handlers.request.replace(with: handler)
        }

        private func join(_ link: ServerLink, _ mode: RunLoop.Mode) {
            guard let loop = membership?.loop else { return }
            do throws(SystemError) { try loop.add(link.connection, forMode: mode) } catch {
                return link.end(.failed, resets: false)
            }
            if let timer = link.clock.timer { loop.add(timer, forMode: mode) }
        }

        func leave(_ mode: RunLoop.Mode) {
            guard let index = membership?.modes.firstIndex(of: mode), let loop = membership?.loop else {
                return
            }
            withExtendedLifetime(self) {
                membership?.modes.remove(at: index)
                let rest = modes
                loop.remove(listener, forMode: mode)
                membership?.input.leave(mode)
                var timers = links.values.compactMap(\.clock.timer)
                if let timer = stopping?.timer { timers.append(timer) }
                for link in links.values { loop.remove(link.connection, forMode: mode) }
                for timer in timers {
                    loop.remove(timer, forMode: mode)
                    // If `mode` is `.common`, the timer was also removed from common modes that the server is in individually.
                    for mode in rest { loop.add(timer, forMode: mode) }
                }
            }
        }

        // MARK: - Connections

        private func accept(_ accepted: consuming AcceptedSocket) {
            guard isValid, let loop = membership?.loop else { return }
            statistics.connections += 1
            let peer = accepted.peerAddress
            var limits = Connection.Options()
            limits.connectTimeout = options.headerTimeout
            limits.writeTimeout = options.idleTimeout
            limits.lingerTimeout = HTTPServer.lingerTimeout
            let connection = Connection(
                accepted, options: limits, fileID: origin.fileID, line: Int(origin.line))
            if let tls = options.tls { connection.insert(tls.makeLayer().filter) }
            let link = ServerLink(connection, peer, self, loop)
            links[ObjectIdentifier(link)] = link
            link.begin()
            for mode in modes { join(link, mode) }
            if stopping != nil { link.beginStopping() }
        }

        /// The time for which a closing connection still reads and discards a request, so that the client gets the response.
        ///
        /// If the connection were closed meanwhile, the kernel would reset it, and the client could lose the response.
        private static var lingerTimeout: Duration { .seconds(5) }

        func remove(_ link: ServerLink) {
            if links.removeValue(forKey: ObjectIdentifier(link)) == nil { return }
            if links.isEmpty && stopping != nil { endSoon() }
        }

        // MARK: - Turns

        /// True if a handler may be called now.
        ///
        /// What other threads have handed over takes effect first.
        var mayCallHandlers: Bool {
            !isCalling && (end.isUntouched || membership?.loop.admits(touched: end) ?? false)
        }

        func enqueue(_ link: ServerLink) {
            if link.isQueued || !isValid { return }
            link.isQueued = true
            enqueue(.link(link))
        }

        func enqueueEnd(of exchange: Exchange) {
            if exchange.hasEndToTell { enqueue(.end(exchange)) }
        }

        private func enqueue(_ turn: Turn) {
            turns.append(turn)
            if !isServing && !isCalling { membership?.input.becameReady() }
        }

        func answerRing() {}

        func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served {
            var served = Served()
            if isServing || !mayCallHandlers { return served }
            isServing = true
            var rest = turns.count
            while rest > 0, mayCallHandlers, budget.spend(), let turn = turns.popFirst() {
                rest -= 1
                switch turn {
                case .link(let link):
                    link.isQueued = false
                    if link.step() { served.calledHandler = true }
                    link.goesOn()
                case .end(let exchange):
                    exchange.tellEnd()
                    served.calledHandler = true
                }
            }
            isServing = false
            endIfStopped()
            if !isValid { finishEnding() }
            served.hasMore = !turns.isEmpty
            return served
        }

        func didLeaveLoop() {}

        /// The description of the server, for an inspector.
        var parts: [InspectedPart] {
            [
                InspectedPart(
                    "HTTP server", madeAt: origin,
                    [
                        .init("servers", 1), .init("open connections", links.count),
                        .init("requests", statistics.requests), .init("refused", statistics.refusedRequests),
                    ])
            ]
        }

        /// Calls a handler; meanwhile no other handler of this server is called.
        func call(_ handler: () -> Void) {
            isCalling = true
            if let input = membership?.input { input.callHandler(origin, handler) } else { handler() }
            isCalling = false
            if !isValid { return finishEnding() }
            if !turns.isEmpty && !isServing { membership?.input.becameReady() }
        }
    }
#endif

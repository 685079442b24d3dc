#if HTTPServers
    internal import NIOHTTP1
    internal import RunLoops
    internal import Streams

    // Requests: their headers, their bodies, and those that are refused.
    extension ServerLink {
        func beginHead() {
            phase = .head
            if clock.kind != .header { setDeadline(.header, server.options.headerTimeout) }
        }

        /// Decodes the next bytes.
        func decode() {
            let hadFirstLine = decoder.hasFirstLine
            let parts: [RequestDecoder.Part]
            do throws(RequestDecoder.Refusal) { parts = try decoder.step() } catch {
                if case .head = phase, !hadFirstLine { server.statistics.requests += 1 }
                return refuse(error.status)
            }
            if case .head = phase, !hadFirstLine, decoder.hasFirstLine { server.statistics.requests += 1 }
            for part in parts {
                switch part {
                case .head(let head): begin(head)
                case .body(let bytes):
                    guard case .exchange(let exchange) = phase, !exchange.isReceived else { continue }
                    if !exchange.take(bytes, limit: server.options.bodyLimit) { return refuse(413) }
                case .end:
                    guard case .exchange(let exchange) = phase, !exchange.isReceived else { continue }
                    exchange.didReceiveAll()
                    setDeadline(.none, nil)
                }
            }
            if case .exchange(let exchange) = phase, exchange.takesBody, exchange.body.isStreamed {
                setDeadline(.body, server.options.idleTimeout)
            }
            decoder.reclaim()
        }

        private func begin(_ head: HTTPRequestHead) {
            // A streamed body has no limit, and only the handler knows if it streams.
            let asks = server.handlers.header != nil
            switch RequestRules.verdict(on: head, bodyLimit: asks ? nil : server.options.bodyLimit) {
            case .refused(let status):
                phase = .exchange(Exchange(self, HTTPServer.Request(head, host: nil), .over))
                refuse(status)
            case .accepted(let facts):
                let exchange = Exchange(self, HTTPServer.Request(head, host: facts.host), .receiving(facts))
                let isOld = head.version.minor == 0
                exchange.account.keepsAlive = !facts.asksForClose && (!isOld || facts.asksForKeepAlive)
                phase = .exchange(exchange)
                decoder.expect(facts.body)
                if facts.body == .none { return }
                if asks {
                    exchange.reception = .asking(facts)
                    exchange.due.insert(.header)
                    setDeadline(.none, nil)
                } else {
                    takeBody(exchange, facts)
                }
            }
        }

        /// Goes on as the handler of headers has decided.
        func headerHandlerHasReturned(_ exchange: Exchange) {
            guard case .asking(let facts) = exchange.reception, exchange.isOpen else { return }
            if exchange.hasResponse {
                // The response was sent before the body, which is not taken.
                exchange.reception = .over
                return
            }
            if !exchange.body.isStreamed, let limit = server.options.bodyLimit,
                case .counted(let count) = facts.body, count > limit
            {
                return refuse(413)
            }
            takeBody(exchange, facts)
        }

        private func takeBody(_ exchange: Exchange, _ facts: RequestRules.Facts) {
            exchange.reception = .receiving(facts)
            if facts.expectsContinue && decoder.waitingCount == 0 {
                connection.write("HTTP/1.1 100 Continue\r\n\r\n" as StaticString)
            }
            setDeadline(
                .body, exchange.body.isStreamed ? server.options.idleTimeout : server.options.bodyTimeout)
        }

        /// Refuses the request under way, and closes the connection.
        ///
        /// All requests that the server itself refuses come here.
        private func refuse(_ code: Int) {
            server.statistics.refusedRequests += 1
            let exchange: Exchange
            if case .exchange(let known) = phase {
                exchange = known
            } else {
                exchange = Exchange(self, nil, .over)
                phase = .exchange(exchange)
            }
            exchange.account.isRefused = true
            if exchange.hasResponse { return exchange.fail(.failed) }
            exchange.account.keepsAlive = false
            exchange.reception = .over
            exchange.due = []
            exchange.answer(.status(.init(code: code)))
        }
    }
#endif

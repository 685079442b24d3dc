#if HTTPServers
    internal import HTTPTypes
    internal import NIOCore
    internal import RunLoops
    internal import Streams
    internal import Synchronization

    /// A request under way and its response; the program sees an ``HTTPExchange``.
    ///
    /// > Thread safety: the loop's own thread only, except for ``loop``.
    final class Exchange {
        /// The connection of the request.
        let link: ServerLink
        /// The loop of the server; any thread may read this property.
        let loop: RunLoop
        let began = Moment.now()
        /// The request; nil if its header was not understood.
        private(set) var received: HTTPServer.Request?
        var reception: Reception
        var response = ExchangeResponse.none
        var body = RequestBody()
        var handlers = Handlers()
        var due: Due = []
        var account = Account()
        /// True if the program has paused the delivery of a streamed body.
        var isReadingPaused = false
        private(set) var endReason: HTTPExchange.EndReason?
        /// True once another thread has cancelled the exchange, which the loop then ends.
        let isCancelled = Atomic(false)

        /// The `HTTPExchange` that the server keeps for the program; nil if the server keeps none.
        ///
        /// The code of this class calls such an object a face.
        var heldFace: HTTPExchange?
        /// The number of faces and responders that exist for this exchange, and could answer.
        var holders = Holders()

        /// How far the request was received.
        enum Reception {
            /// The header is complete, and the handler of headers decides about the body.
            case asking(RequestRules.Facts)
            /// The body is being received.
            case receiving(RequestRules.Facts)
            /// The request is complete, or the rest of its body is not taken.
            case over
        }

        /// The handlers that the program has set.
        struct Handlers {
            var data: ((HTTPExchange, RawSpan) -> Void)?
            var drained: ((HTTPExchange) -> Void)?
            var end: ((HTTPExchange, HTTPExchange.EndReason) -> Void)?
        }

        /// The handlers that are to be called.
        struct Due: OptionSet {
            let rawValue: UInt8
            static var header: Due { Due(rawValue: 1) }
            static var request: Due { Due(rawValue: 2) }
            static var drained: Due { Due(rawValue: 4) }
            /// The handler of headers is being called, so that it may choose to stream the body.
            static var choice: Due { Due(rawValue: 8) }
        }

        /// The objects of the program that could answer.
        struct Holders {
            var faces = 0
            var responders = 0
        }

        /// What the record of the request says.
        struct Account {
            var status: HTTPResponse.Status?
            var byteCount = 0
            var isRefused = false
            /// True if the connection can carry another request after this one.
            var keepsAlive = false
        }

        init(_ link: ServerLink, _ received: HTTPServer.Request?, _ reception: Reception) {
            self.link = link
            loop = link.loop
            self.received = received
            self.reception = reception
        }

        var server: HTTPServer { link.server }

        /// The request as the program sees it.
        var request: HTTPServer.Request { received ?? HTTPServer.Request(target: "") }

        // MARK: - State

        var isOpen: Bool { endReason == nil && !isCancelled.load(ordering: .relaxed) }
        var hasResponse: Bool { if case .none = response, isOpen { false } else { true } }
        var isStream: Bool { if case .stream = response { true } else { false } }
        var isReceived: Bool { if case .over = reception { true } else { false } }
        /// True if the server takes bytes of the body.
        var takesBody: Bool {
            if case .receiving = reception { !body.isFull } else { false }
        }
        /// True if the response has no body, whatever the program gives.
        func omitsBody(_ status: HTTPResponse.Status) -> Bool {
            received?.method == .head || ResponseRules.forbidsBody(status.code)
        }

        // MARK: - Receiving

        /// Takes bytes of the body.
        ///
        /// - Returns: False if the body is too long.
        func take(_ bytes: ByteBuffer, limit: Int?) -> Bool { body.take(bytes, limit: limit) }

        /// Records that the request is complete.
        func didReceiveAll() {
            reception = .over
            due.insert(.request)
            if !body.isStreamed { received?.body = body.giveBytes() }
        }

        // MARK: - Delivering

        /// True if received bytes of a streamed body can be delivered.
        private var hasBytes: Bool { body.isStreamed && !body.bytes.isEmpty }

        /// True if a handler is to be called now.
        var hasDue: Bool {
            due.contains(.header) || hasBytes && !isReadingPaused || due.contains(.drained)
                || due.contains(.request) && !hasBytes
        }

        /// Calls one handler that is due.
        ///
        /// - Returns: False if none is due.
        func deliver() -> Bool {
            if !isOpen { return false }
            if due.contains(.header) {
                callHeaderHandler()
            } else if hasBytes && !isReadingPaused {
                let bytes = body.giveBytes()
                // Safe: a byte has no padding.
                if let handler = handlers.data {
                    let face = currentFace
                    server.call { handler(face, unsafe bytes.span.bytes) }
                }
            } else if due.contains(.drained) {
                due.remove(.drained)
                if let handler = handlers.drained {
                    let face = currentFace
                    server.call { handler(face) }
                }
            } else if due.contains(.request) && !hasBytes {
                due.remove(.request)
                callRequestHandler()
            } else {
                return false
            }
            return true
        }

        /// Calls the handler of `HTTPServer.onHeader`, and then goes on as it has decided.
        private func callHeaderHandler() {
            due.remove(.header)
            due.insert(.choice)
            // The server keeps the face until the handler of requests is called. Otherwise the release of the face would answer the
            // request with status 500, unless the handler has answered it.
            let face = currentFace
            heldFace = face
            if let handler = server.handlers.header { server.call { handler(face) } }
            due.remove(.choice)
            body.isStreamed = handlers.data != nil
            link.headerHandlerHasReturned(self)
        }

        private func callRequestHandler() {
            // A response may have been given already, for instance in the handler of the body.
            if hasResponse { return }
            let face = currentFace
            heldFace = nil
            if let handler = server.handlers.request { server.call { handler(face) } }
        }

        /// The `HTTPExchange` for the program's handlers: the object that the server keeps, or else a new object.
        var currentFace: HTTPExchange {
            if let face = heldFace { return face }
            holders.faces += 1
            return HTTPExchange(self)
        }

        // MARK: - The end

        /// Records that the exchange has ended, and queues it if there are handlers to call or to release.
        func end(_ reason: HTTPExchange.EndReason) {
            if endReason != nil { return }
            endReason = reason
            if reason == .sent { server.statistics.sentResponses += 1 }
            server.enqueueEnd(of: self)
        }

        /// True if the program is to be told of the end, or something of the program's is to be released.
        var hasEndToTell: Bool {
            handlers.end != nil || handlers.data != nil || handlers.drained != nil || heldFace != nil
                || server.handlers.requestEnd != nil
        }

        /// Calls the handlers for the end of the exchange, and releases all handlers and the kept `HTTPExchange`.
        func tellEnd() {
            guard let reason = endReason else { return }
            var released = Handlers()
            swap(&released, &handlers)
            if let handler = released.end {
                let face = currentFace
                server.call { handler(face, reason) }
            }
            if let handler = server.handlers.requestEnd {
                let record = record(reason)
                server.call { [server] in handler(server, record) }
            }
            let face = heldFace.take()
            withExtendedLifetime((released, face)) {}
        }

        private func record(_ reason: HTTPExchange.EndReason) -> HTTPServer.RequestRecord {
            HTTPServer.RequestRecord(
                method: received?.method, target: received?.target, status: account.status,
                peerAddress: link.peerAddress, sentByteCount: account.byteCount,
                duration: .nanoseconds(Moment.now().nanoseconds - began.nanoseconds), reason: reason,
                isRefused: account.isRefused)
        }
    }
#endif

internal import HTTPMessages
internal import RunLoops
internal import Streams

/// A request under way, as libmicrohttpd sees it; the user sees an ``HTTPExchange``.
///
/// libmicrohttpd's callbacks change this object: they only record and copy. The server calls the handlers when libmicrohttpd has
/// returned.
///
/// > Thread safety: the loop's own thread only, except for `loop`.
@safe
final class Exchange {
    /// The connection of the request.
    ///
    /// Once the exchange has ended, the handle of the connection may be invalid.
    let link: ServerLink
    /// The storage of ``contents``.
    ///
    /// A request changes the contents some twenty times, so the storage has no exclusivity checks; see `ExclusivityUnchecked`. That
    /// type would take a second piece of memory for each exchange, and 2 % more processor time for a request.
    #if CHECKS_EXCLUSIVITY
        @unsafe private var storage = Contents()
    #else
        @exclusivity(unchecked) private var storage = Contents()
    #endif

    /// The mutable state of the exchange; `forgetRequest()` resets all of it before the next request.
    struct Contents {
        /// The target of the request, as the client has sent it.
        var target = ""
        /// The method of the request; empty until the header of the request is complete.
        var method = ""
        /// The version of HTTP; empty until the header of the request is complete.
        var version = ""
        /// The request as the user sees it; nil until it is first asked for.
        var request: HTTPServer.Request?

        var state = ExchangeState()
        var handlers = Handlers()
        /// True while the exchange is in the server's queue of exchanges that have handlers to call.
        var isQueued = false
        /// True while the connection is suspended, so that libmicrohttpd does not serve it.
        var isSuspended = false
        /// The answer to the request; nil until the user or the server has given one.
        var answer: ServerAnswer?

        /// The `HTTPExchange` that the server keeps for the user; nil if the server keeps none.
        ///
        /// The code of this class calls such an object a face.
        var heldFace: HTTPExchange?
        /// The number of `HTTPExchange` objects that exist for this exchange.
        var faces = 0
        /// The number of responders of this exchange that exist and have not answered.
        var responders = 0

        // The body of the request, as far as it was received.
        var input = RequestBody()
        /// True if the user has paused the delivery of a streamed body.
        var isPaused = false
        var isInHeaderHandler = false

        /// The body of a streamed answer; nil unless a streamed answer has begun.
        var stream: StreamedBody?
        var isAborted = false
        /// True if the server has noticed that the client has closed the connection.
        var clientHasLeft = false

        var endReason: HTTPExchange.EndReason?
        /// The connection to deliver to the user's handler after an upgrade; nil before the upgrade and after the delivery.
        var upgraded: Connection?
    }

    /// The body of a streamed answer.
    struct StreamedBody {
        var output = BodyQueue(highWaterMark: 64 << 10)
        /// True once the user has written all bytes of the body.
        var hasEnded = false
        /// The number of bytes of the body that were given to libmicrohttpd.
        var given = 0
    }

    /// The handlers that the user has set.
    struct Handlers {
        var data: ((HTTPExchange, RawSpan) -> Void)?
        var drained: ((HTTPExchange) -> Void)?
        var end: ((HTTPExchange, HTTPExchange.EndReason) -> Void)?

        var isEmpty: Bool { data == nil && drained == nil && end == nil }
    }

    init(_ link: ServerLink) { self.link = link }

    var contents: Contents {
        // Safe: only the loop's thread has access, and no two accesses overlap.
        @inline(__always) _read { yield unsafe storage }
        @inline(__always) _modify { yield unsafe &storage }
    }

    /// The loop of the server; any thread may read this property.
    var loop: RunLoop { link.server.loop }

    // MARK: - The next request

    /// True if this object can be used again for the next request of its connection.
    ///
    /// The request must have ended, and nothing except the connection may refer to this object. The answer must have been complete
    /// from the beginning: a streamed answer refers to this object, and libmicrohttpd can hold such an answer longer than the
    /// request.
    ///
    /// A new object for each request would take 1.5 % more processor time.
    var canServeNext: Bool {
        if case .sent? = contents.answer {
            hasEnded && contents.faces == 0 && contents.responders == 0 && !contents.isQueued
        } else {
            false
        }
    }

    /// Resets the state, so that this object can serve the next request.
    func forgetRequest() { contents = Contents() }

    // MARK: - State

    /// The request as the user sees it.
    ///
    /// The first access copies the fields of the header from libmicrohttpd.
    var request: HTTPServer.Request {
        if let request = contents.request { return request }
        let made = HTTPServer.Request(
            contents.method, contents.target, version: contents.version,
            fields: hasEnded ? HTTPFields() : link.fields)
        contents.request = made
        return made
    }

    var hasEnded: Bool { contents.endReason != nil }
    var isOpen: Bool { contents.endReason == nil && !contents.isAborted }
    var isAnswered: Bool { contents.answer != nil || !isOpen }
    var isSecure: Bool { link.server.options.identity != nil }
    var isStream: Bool { if case .stream? = contents.answer { true } else { false } }
    /// True if the answer is an upgrade, which holds a handler of the user's.
    private var isUpgrade: Bool { if case .upgrade? = contents.answer { true } else { false } }

    /// Adds the exchange to the server's queue, so that the server calls the handlers that are due.
    func enqueue() { if !hasEnded { link.server.enqueue(self) } }

    // MARK: - Suspending

    func suspend() {
        if contents.isSuspended { return }
        contents.isSuspended = true
        if !hasEnded { link.server.suspend(link) }
    }

    /// Resumes the connection if it is suspended, and wakes libmicrohttpd's daemon, so that the request continues.
    func resume() {
        if hasEnded { return }
        if contents.isSuspended {
            contents.isSuspended = false
            if isStream { link.server.unwatch(self) }
            link.server.resume(link)
        }
        link.server.wakeDaemon()
    }

    // MARK: - Delivering

    var headerHandlerIsDue: Bool { contents.state.handlerIsDue && contents.state.isAsking }
    var requestHandlerIsDue: Bool { contents.state.handlerIsDue && !contents.state.isAsking }
    /// True if received bytes of a streamed body are stored, and not yet delivered to the handler.
    var hasBytes: Bool { contents.input.isStreamed && !contents.input.bytes.isEmpty }

    /// The `HTTPExchange` for the user's handlers: the object that the server keeps, or else a new object.
    var currentFace: HTTPExchange {
        if let face = contents.heldFace { return face }
        contents.faces += 1
        return HTTPExchange(self)
    }

    /// Calls the handler of `HTTPServer.onHeader`, and then lets libmicrohttpd continue the request.
    func callHeaderHandler(_ handler: ((HTTPExchange) -> Void)?) {
        contents.isInHeaderHandler = true
        // The server keeps the face until the handler of requests is called. Otherwise the release of the face would answer the
        // request with status 500, unless the handler has answered it.
        let face = currentFace
        contents.heldFace = face
        handler?(face)
        contents.isInHeaderHandler = false
        contents.input.isStreamed = contents.handlers.data != nil
        contents.state.handlerReturned()
        resume()
    }

    func callRequestHandler(_ handler: ((HTTPExchange) -> Void)?) {
        let face = currentFace
        contents.heldFace = nil
        handler?(face)
        contents.state.handlerReturned()
    }

    /// Records that the request has ended, and queues the exchange if there are handlers to call or to release.
    func end(_ reason: HTTPExchange.EndReason) {
        if hasEnded { return }
        // Most exchanges have nothing of the user's to call or to release, and need not be queued.
        if !contents.handlers.isEmpty || contents.heldFace != nil || isUpgrade { enqueue() }
        // The user can ask a face for the request after this. libmicrohttpd is about to free the fields, so they are copied now.
        if contents.faces > 0 || !contents.handlers.isEmpty { _ = request }
        if isStream { link.server.unwatch(self) }
        releaseAnswer()
        contents.endReason = contents.clientHasLeft ? .clientLeft : contents.isAborted ? .failed : reason
        contents.state.end()
        contents.isSuspended = false
    }

    /// Calls the user's handler for the end of the exchange, and releases all handlers and the kept `HTTPExchange`.
    ///
    /// If the exchange has not ended, the call does nothing.
    func callEndHandler() {
        guard let reason = contents.endReason else { return }
        var handlers = Handlers()
        swap(&handlers, &contents.handlers)
        handlers.end?(currentFace, reason)
        _ = contents.heldFace.take()
    }
}

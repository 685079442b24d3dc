internal import HTTPMessages
internal import RunLoops
internal import Streams

/// A request under way: libmicrohttpd's side of an ``HTTPExchange``.
///
/// libmicrohttpd's callbacks only record and copy here. The server calls the handlers when libmicrohttpd has returned.
///
/// > Thread safety: the loop's own thread only, except for `loop`.
@safe
final class Exchange {
    /// The connection, whose handle is invalid once the exchange has ended.
    let link: ServerLink
    /// The storage of ``contents``.
    ///
    /// A request changes the contents some twenty times, so they are stored without exclusivity checks. Each change is complete
    /// whenever code of the user can run.
    @exclusivity(unchecked) private var storage = Contents()

    /// The values that change.
    struct Contents {
        /// The target of the request, as the client has sent it.
        var target = ""
        /// The method and the version of HTTP; empty until the header of the request is complete.
        var method = ""
        var version = ""
        /// The request; nil until it was first asked for.
        var request: HTTPServer.Request?

        var state = ExchangeState()
        var handlers = Handlers()
        /// True while the exchange is in the server's queue.
        var isQueued = false
        /// True while libmicrohttpd's connection is suspended.
        var isSuspended = false
        /// The answer; nil until there is one.
        var answer: ServerAnswer?

        /// The user's `HTTPExchange`, called the face in this class; nil unless the server holds the face.
        var heldFace: HTTPExchange?
        /// The number of the user's `HTTPExchange` objects, or faces, that exist for this exchange.
        var faces = 0
        /// The number of responders that have not answered.
        var responders = 0

        // The body of the request.
        var input = RequestBody()
        /// True if the user has paused the delivery of a streamed body.
        var isPaused = false
        var isInHeaderHandler = false

        /// The body of a streamed answer; nil until the answer has begun.
        var stream: StreamedBody?
        var isAborted = false
        /// True if the socket has reached its end, because the client has left.
        var clientHasLeft = false

        var endReason: HTTPExchange.EndReason?
        /// The connection that was upgraded, until it is delivered to the handler.
        var upgraded: Connection?
    }

    /// The body of a streamed answer.
    struct StreamedBody {
        var output = BodyQueue(highWaterMark: 64 << 10)
        /// True if all bytes were written.
        var hasEnded = false
        /// The number of bytes that were given to libmicrohttpd.
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

    /// The loop of the server; any thread may read it.
    var loop: RunLoop { link.server.loop }
    /// The server; nil once the exchange has ended.
    var server: HTTPServer? { hasEnded ? nil : link.server }

    // MARK: - The next request

    /// True if the request has ended and no other object refers to the exchange.
    ///
    /// The exchange then serves the next request of its connection, because a new object for each request would take 1.5 % more
    /// processor time. A streamed answer is excluded: libmicrohttpd can hold it longer than the request.
    var canServeNext: Bool {
        if case .sent? = contents.answer {
            hasEnded && contents.faces == 0 && contents.responders == 0 && !contents.isQueued
        } else {
            false
        }
    }

    /// Forgets a request that has ended.
    func forgetRequest() { contents = Contents() }

    // MARK: - State

    /// The request, whose fields are copied from libmicrohttpd when they are first asked for.
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
    var isSecure: Bool { server?.options.identity != nil }
    var isStream: Bool { if case .stream? = contents.answer { true } else { false } }

    /// Queues the exchange, so that the server calls the handlers that are due.
    func enqueue() { if !hasEnded { link.server.enqueue(self) } }

    // MARK: - Suspending

    func suspend() {
        if contents.isSuspended { return }
        contents.isSuspended = true
        if !hasEnded { link.server.suspend(link) }
    }

    /// Lets libmicrohttpd continue the request.
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
    /// True if received bytes of a streamed body wait to be delivered.
    var hasBytes: Bool { contents.input.isStreamed && !contents.input.bytes.isEmpty }

    /// The user's `HTTPExchange`, or face: the face that the server holds, or a new face.
    var currentFace: HTTPExchange {
        if let face = contents.heldFace { return face }
        contents.faces += 1
        return HTTPExchange(self)
    }

    /// Calls the handler of headers, and then lets libmicrohttpd continue the request.
    func callHeaderHandler(_ handler: ((HTTPExchange) -> Void)?) {
        contents.isInHeaderHandler = true
        // This keeps the face until the handler of requests is called. Otherwise a request that is not answered here would be
        // answered with status 500.
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

    /// Records that libmicrohttpd has ended the request.
    func end(_ reason: HTTPExchange.EndReason) {
        if hasEnded { return }
        // Most exchanges have no handler to call or to release, and no face to release.
        if !contents.handlers.isEmpty || contents.heldFace != nil || contents.upgraded != nil { enqueue() }
        // A face that outlives the exchange can be asked for the request, whose fields libmicrohttpd is about to free.
        if contents.faces > 0 || !contents.handlers.isEmpty { _ = request }
        if isStream { link.server.unwatch(self) }
        releaseAnswer()
        contents.endReason = contents.clientHasLeft ? .clientLeft : contents.isAborted ? .failed : reason
        contents.state.end()
        contents.isSuspended = false
    }

    /// Calls the handler of the end, and releases all handlers.
    func callEndHandler() {
        guard let reason = contents.endReason else { return }
        let handler = contents.handlers.end
        contents.handlers = Handlers()
        if let handler { handler(currentFace, reason) }
        contents.heldFace = nil
    }
}

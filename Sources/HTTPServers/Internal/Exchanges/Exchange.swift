internal import HTTPMessages
internal import RunLoops
internal import Streams

/// A request under way: libmicrohttpd's side of an ``HTTPExchange``.
///
/// libmicrohttpd's callbacks only record and copy here. The server calls the handlers when libmicrohttpd has returned.
///
/// > Thread safety: the loop's own thread only, except for `loop`.
final class Exchange {
    let loop: RunLoop
    /// The connection; nil once the exchange has ended.
    private(set) var link: ServerLink?
    /// The server; nil once the exchange has ended.
    var server: HTTPServer? { link?.server }

    var request: HTTPServer.Request
    var state = ExchangeState()
    var handlers = Handlers()
    /// True while the exchange is in the server's queue.
    var isQueued = false
    /// True while libmicrohttpd's connection is suspended.
    private(set) var isSuspended = false
    /// The answer; nil until there is one.
    private(set) var answer: ServerAnswer?

    /// The user's `HTTPExchange`, called the face in this class; nil unless the server holds the face.
    private var heldFace: HTTPExchange?
    /// The number of the user's `HTTPExchange` objects, or faces, that exist for this exchange.
    private var faces = 0
    /// The number of responders that have not answered.
    var responders = 0

    // The body of the request.
    var input = RequestBody()
    /// True if the user has paused the delivery of a streamed body.
    var isPaused = false
    private(set) var isInHeaderHandler = false

    // The body of the answer.
    var output = BodyQueue(highWaterMark: 64 << 10)
    private(set) var outputHasEnded = false
    /// The number of bytes of a streamed answer that were given to libmicrohttpd.
    var given = 0
    private(set) var isAborted = false
    /// True if the socket has reached its end, because the client has left.
    private(set) var clientHasLeft = false

    private(set) var endReason: HTTPExchange.EndReason?
    /// The connection that was upgraded, until it is delivered to the handler.
    var upgraded: Connection?

    /// The handlers that the user has set.
    struct Handlers {
        var data: ((HTTPExchange, RawSpan) -> Void)?
        var drained: ((HTTPExchange) -> Void)?
        var end: ((HTTPExchange, HTTPExchange.EndReason) -> Void)?

        var isEmpty: Bool { data == nil && drained == nil && end == nil }
    }

    init(_ link: ServerLink, _ target: String) {
        self.link = link
        loop = link.server.loop
        request = HTTPServer.Request("", target)
    }

    var isOpen: Bool { endReason == nil && !isAborted }
    var isAnswered: Bool { answer != nil || !isOpen }
    var isSecure: Bool { server?.options.identity != nil }
    var isStream: Bool { if case .stream? = answer { true } else { false } }

    // MARK: - Calls of the user

    @discardableResult
    func answer(_ answer: ServerAnswer) -> Bool {
        if isAnswered { return false }
        if let problem = answer.problem {
            RunLoopDiagnostics.report(
                "HTTPExchange: the answer to \(request) is not sent, because \(problem)")
            self.answer = .whole(HTTPServer.Response(status: 500))
        } else {
            self.answer = answer
        }
        if isStream { heldFace = currentFace }
        resume()
        return true
    }

    func write(_ bytes: [UInt8]) -> Bool {
        if !isOpen || outputHasEnded { return false }
        let mayGoOn = output.append(bytes)
        resume()
        return mayGoOn
    }

    func finishStream() {
        outputHasEnded = true
        resume()
    }

    func abort() {
        if !isOpen { return }
        isAborted = true
        resume()
    }

    /// Ends a streamed answer, because the client has closed the connection.
    func clientWasSeenToLeave() {
        clientHasLeft = true
        abort()
    }

    func faceIsGone() {
        faces -= 1
        answerIfDropped()
    }

    func responderIsGone() {
        responders -= 1
        answerIfDropped()
    }

    /// Answers with status 500 if the user's code has released all objects that could answer.
    private func answerIfDropped() {
        if faces == 0 && responders == 0 && !isAnswered { answer(.whole(HTTPServer.Response(status: 500))) }
    }

    func enqueue() { server?.enqueue(self) }

    // MARK: - Suspending

    func suspend() {
        if isSuspended { return }
        isSuspended = true
        if let link { link.server.suspend(link) }
    }

    /// Lets libmicrohttpd continue the request.
    func resume() {
        guard let link else { return }
        if isSuspended {
            isSuspended = false
            link.server.unwatch(self)
            link.server.resume(link)
        }
        link.server.wakeDaemon()
    }

    // MARK: - Delivering

    /// The user's `HTTPExchange`, or face: the face that the server holds, or a new face.
    var currentFace: HTTPExchange {
        if let heldFace { return heldFace }
        faces += 1
        return HTTPExchange(self)
    }

    /// Calls the handler of headers, and then lets libmicrohttpd continue the request.
    func callHeaderHandler(_ handler: ((HTTPExchange) -> Void)?) {
        isInHeaderHandler = true
        // This keeps the face until the handler of requests is called. Otherwise a request that is not answered here would be
        // answered with status 500.
        let face = currentFace
        heldFace = face
        handler?(face)
        isInHeaderHandler = false
        input.isStreamed = handlers.data != nil
        state.handlerReturned()
        resume()
    }

    func callRequestHandler(_ handler: ((HTTPExchange) -> Void)?) {
        let face = currentFace
        heldFace = nil
        handler?(face)
        state.handlerReturned()
    }

    /// Records that libmicrohttpd has ended the request.
    func end(_ reason: HTTPExchange.EndReason) {
        if endReason != nil { return }
        // Most exchanges have no handler to call or to release, and no face to release.
        if !handlers.isEmpty || heldFace != nil || upgraded != nil { enqueue() }
        server?.unwatch(self)
        endReason = clientHasLeft ? .clientLeft : isAborted ? .failed : reason
        state.end()
        isSuspended = false
        link = nil
    }

    /// Calls the handler of the end, and releases all handlers.
    func callEndHandler() {
        guard let endReason else { return }
        let handler = handlers.end
        handlers = Handlers()
        if let handler { handler(currentFace, endReason) }
        heldFace = nil
    }
}

internal import CHTTPDaemon
internal import Glibc
internal import RunLoops
internal import Streams

// libmicrohttpd calls these closures while one of its functions runs. They only copy and record, and call no code of the user.

/// The functions that a daemon calls.
func daemonCallbacks() -> runloops_daemon_callbacks {
    unsafe runloops_daemon_callbacks(
        opened: { handle, server in
            let link = unsafe serverOf(server).linkWasOpened(handle!)
            // Safe: the server holds the link until the connection is closed.
            return unsafe Unmanaged.passUnretained(link).toOpaque()
        },
        closed: { link, server in unsafe serverOf(server).linkWasClosed(linkOf(link)) },
        began: { link, target in unsafe linkOf(link).begin(String(cString: target!)) },
        proceed: { exchange, method, version, bytes, count in
            unsafe exchangeOf(exchange).proceed(method!, version!, bytes, count!)
        },
        upgraded: { exchange, socket, bytes, count, upgraded in
            // Safe: the bytes are copied during the call.
            let received = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
            unsafe exchangeOf(exchange).take(socket, received)
            // The duplicate stays open, so libmicrohttpd may release the connection.
            unsafe runloops_upgraded_release(upgraded)
        },
        ended: { exchange, reason in unsafe exchangeOf(exchange).wasEnded(reason) })
}

/// The server that libmicrohttpd passes as a context.
private func serverOf(_ context: UnsafeMutableRawPointer?) -> HTTPServer {
    // Safe: the source holds the server until the daemon is freed.
    unsafe Unmanaged<HTTPServer>.fromOpaque(context!).takeUnretainedValue()
}

/// The connection that libmicrohttpd passes as a pointer.
private func linkOf(_ pointer: UnsafeMutableRawPointer?) -> ServerLink {
    // Safe: the server holds the link until the connection is closed, which is the last call with the link.
    unsafe Unmanaged<ServerLink>.fromOpaque(pointer!).takeUnretainedValue()
}

/// The exchange that libmicrohttpd passes as a pointer.
private func exchangeOf(_ pointer: UnsafeMutableRawPointer?) -> Exchange {
    // Safe: the link holds the exchange until the request is ended, which is the last call with the exchange.
    unsafe Unmanaged<Exchange>.fromOpaque(pointer!).takeUnretainedValue()
}

extension ServerLink {
    /// Makes the exchange for a request, once the first line of the request was received.
    fileprivate func begin(_ target: String) -> UnsafeMutableRawPointer {
        server.statistics.requests += 1
        quietSince = nil
        let made = Exchange(self, target)
        exchange = made
        // Safe: the link holds the exchange until the request is ended.
        return unsafe Unmanaged.passUnretained(made).toOpaque()
    }
}

extension Exchange {
    /// Takes the next step of the request, when libmicrohttpd asks.
    ///
    /// - Returns: False to close the connection.
    fileprivate func proceed(
        _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>, _ bytes: UnsafeRawPointer?,
        _ count: UnsafeMutablePointer<Int>
    ) -> Bool {
        if isAborted { return false }
        guard let link else { return false }
        let server = link.server
        var asksFirst = false
        if request.method.isEmpty { asksFirst = unsafe takeHeader(server, link, method, version) }
        switch state.next(
            hasBytes: unsafe count.pointee > 0, asksFirst: asksFirst, hasAnswer: answer != nil)
        {
        case .goOn: return true
        case .callHeaderHandler:
            enqueue()
            suspend()
        case .takeBody:
            return unsafe takeBody(server, UnsafeRawBufferPointer(start: bytes, count: count.pointee), count)
        case .callRequestHandler:
            link.wait = .nothing
            if input.isTooLong {
                refuse(413, server)
                return unsafe proceed(method, version, bytes, count)
            }
            if !input.isStreamed { request.body = input.giveBytes() }
            enqueue()
        case .wait: suspend()
        case .sendAnswer:
            link.wait = .nothing
            return sendAnswer(server, link)
        }
        return true
    }

    /// Stores and checks the header of the request.
    ///
    /// - Returns: True if the handler of headers is to be called.
    private func takeHeader(
        _ server: HTTPServer, _ link: ServerLink, _ method: UnsafePointer<CChar>,
        _ version: UnsafePointer<CChar>
    ) -> Bool {
        // Safe: libmicrohttpd owns the strings, and this copies them.
        let name = unsafe strcmp(method, "GET") == 0 ? "GET" : String(cString: method)
        let number =
            unsafe strcmp(version, "HTTP/1.1") == 0 ? "1.1" : String(cString: version + "HTTP/".utf8.count)
        let received = HTTPServer.Request(
            name, request.target, version: number, fields: unsafe fields(of: link.handle))
        let asksAboutBodies = server.headerHandler != nil
        let verdict = RequestRules.verdict(
            on: received, bodyLimit: asksAboutBodies ? nil : server.options.bodyLimit)
        request = received
        guard case .accepted(let hasBody) = verdict else {
            if case .refused(let status) = verdict { refuse(status, server) }
            return false
        }
        link.wait =
            hasBody
            ? .body(until: .now().advanced(by: server.options.bodyTimeout.nanosecondsRoundedUp)) : .nothing
        return hasBody && asksAboutBodies
    }

    private func refuse(_ status: Int, _ server: HTTPServer) {
        server.statistics.refusedRequests += 1
        answer(.whole(HTTPServer.Response(status: status)))
    }

    private func takeBody(
        _ server: HTTPServer, _ bytes: UnsafeRawBufferPointer, _ count: UnsafeMutablePointer<Int>
    ) -> Bool {
        // Once a request is answered, the rest of its streamed body is discarded.
        if answer != nil && input.isStreamed {
            unsafe count.pointee = 0
            return true
        }
        switch unsafe input.take(bytes, limit: server.options.bodyLimit) {
        case .taken: unsafe count.pointee = 0
        case .full: suspend()
        case .refused:
            server.statistics.refusedRequests += 1
            return false
        }
        if input.isStreamed { enqueue() }
        return true
    }

    /// Takes over the socket of a connection that leaves HTTP.
    fileprivate func take(_ socket: CInt, _ received: [UInt8]) {
        guard case .upgrade(_, let options, _)? = answer else { return }
        // If the process has no descriptor left for the duplicate, the connection ends, and the handler is not called.
        do {
            upgraded = try Connection(duplicate(socket), received: received, options: options)
        } catch {
            RunLoopDiagnostics.report(
                "HTTPExchange: the connection of \(request) cannot be taken over: \(error)")
        }
    }

    fileprivate func wasEnded(_ reason: runloops_end) {
        let link = link
        let late = link?.isClosedAsLate ?? false
        if reason == runloops_sent { server?.statistics.sentAnswers += 1 }
        switch reason {
        case runloops_sent: end(.sent)
        case runloops_timed_out: end(.timedOut)
        case runloops_client_left: end(late ? .timedOut : .clientLeft)
        case runloops_daemon_stopped: end(.serverInvalidated)
        default: end(late ? .timedOut : answer == nil ? .clientLeft : .failed)
        }
        link?.exchange = nil
        link?.wait = .header(until: nil)
    }
}

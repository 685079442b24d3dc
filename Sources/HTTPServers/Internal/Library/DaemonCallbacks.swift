internal import CHTTPDaemon
internal import Glibc
internal import RunLoops
internal import Streams

// libmicrohttpd calls these closures while one of its functions runs. They only copy and record, and call no user code.

/// The callbacks through which libmicrohttpd's daemon reports connections and requests to the server.
func daemonCallbacks() -> runloops_daemon_callbacks {
    unsafe runloops_daemon_callbacks(
        opened: { handle, server in
            let link = unsafe serverOf(server)._withUnsafeGuaranteedRef { unsafe $0.linkWasOpened(handle!) }
            // Safe: the server holds the link until the connection is closed.
            return unsafe Unmanaged.passUnretained(link).toOpaque()
        },
        closed: { link, server in
            unsafe serverOf(server)._withUnsafeGuaranteedRef {
                unsafe $0.linkWasClosed(linkOf(link).takeUnretainedValue())
            }
        },
        began: { link, target in
            unsafe linkOf(link)._withUnsafeGuaranteedRef { unsafe $0.begin(String(cString: target!)) }
        },
        proceed: { exchange, method, version, bytes, count in
            unsafe exchangeOf(exchange)._withUnsafeGuaranteedRef {
                unsafe $0.proceed(method!, version!, bytes, count!)
            }
        },
        upgraded: { exchange, socket, bytes, count, upgraded in
            // Safe: the bytes are copied during the call.
            let received = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
            unsafe exchangeOf(exchange)._withUnsafeGuaranteedRef { $0.take(socket, received) }
            // The duplicate stays open, so libmicrohttpd may release the connection.
            unsafe runloops_upgraded_release(upgraded)
        },
        ended: { exchange, reason in
            unsafe exchangeOf(exchange)._withUnsafeGuaranteedRef { $0.link.requestWasEnded(reason) }
        })
}

// Except in `closed`, the callbacks do not retain the objects that they are called with: other objects hold these during the call.

/// Returns the server that libmicrohttpd passes to its callbacks as the context.
private func serverOf(_ context: UnsafeMutableRawPointer?) -> Unmanaged<HTTPServer> {
    // Safe: the source holds the server until the daemon is freed.
    unsafe Unmanaged<HTTPServer>.fromOpaque(context!)
}

/// Returns the connection that libmicrohttpd passes to its callbacks as a pointer.
private func linkOf(_ pointer: UnsafeMutableRawPointer?) -> Unmanaged<ServerLink> {
    // Safe: the server holds the link until the connection is closed, which is the last call with the link.
    unsafe Unmanaged<ServerLink>.fromOpaque(pointer!)
}

/// Returns the exchange that libmicrohttpd passes to its callbacks as a pointer.
private func exchangeOf(_ pointer: UnsafeMutableRawPointer?) -> Unmanaged<Exchange> {
    // Safe: the link holds the exchange until the request is ended, which is the last call with the exchange.
    unsafe Unmanaged<Exchange>.fromOpaque(pointer!)
}

extension ServerLink {
    /// Makes or reuses an exchange for a request whose first line was received.
    ///
    /// - Returns: The pointer to the exchange, which libmicrohttpd passes to later callbacks of the request.
    fileprivate func begin(_ target: String) -> UnsafeMutableRawPointer {
        server.counts.value.requests += 1
        quietSince = nil
        let made = spare.take() ?? Exchange(self)
        made.contents.target = target
        exchange = made
        // Safe: the link holds the exchange until the request is ended.
        return unsafe Unmanaged.passUnretained(made).toOpaque()
    }

    /// Ends the exchange, because libmicrohttpd has ended the request.
    ///
    /// If possible, the link keeps the exchange object for the next request.
    fileprivate func requestWasEnded(_ reason: runloops_end) {
        wait = .header(until: nil)
        guard let ended = exchange.take() else { return }
        ended.wasEnded(reason)
        if ended.canServeNext {
            ended.forgetRequest()
            spare = ended
        }
    }
}

extension Exchange {
    /// Takes the next step of the request; called each time libmicrohttpd asks how to continue.
    ///
    /// - Returns: False to close the connection.
    fileprivate func proceed(
        _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>, _ bytes: UnsafeRawPointer?,
        _ count: UnsafeMutablePointer<Int>
    ) -> Bool {
        if contents.isAborted || hasEnded { return false }
        var asksFirst = false
        if contents.method.isEmpty { asksFirst = unsafe takeHeader(method, version) }
        switch contents.state.next(
            hasBytes: unsafe count.pointee > 0, asksFirst: asksFirst, hasAnswer: contents.answer != nil)
        {
        case .goOn: return true
        case .callHeaderHandler:
            enqueue()
            suspend()
        case .takeBody:
            return unsafe takeBody(UnsafeRawBufferPointer(start: bytes, count: count.pointee), count)
        case .callRequestHandler:
            link.wait = .nothing
            if contents.input.isTooLong {
                refuse(413)
                return unsafe proceed(method, version, bytes, count)
            }
            if !contents.input.isStreamed { keepBody() }
            enqueue()
        case .wait: suspend()
        case .sendAnswer:
            link.wait = .nothing
            return sendAnswer()
        }
        return true
    }

    /// Stores the method and the version of the request, and checks its header.
    ///
    /// - Returns: True if the handler of headers is to be called.
    private func takeHeader(_ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>) -> Bool {
        // Safe: libmicrohttpd owns the strings, and this copies them.
        let method = unsafe strcmp(method, "GET") == 0 ? "GET" : String(cString: method)
        let version =
            unsafe strcmp(version, "HTTP/1.1") == 0 ? "1.1" : String(cString: version + "HTTP/".utf8.count)
        let asksAboutBodies = link.server.headerHandler != nil
        let rules = link.checkFields(bodyLimit: asksAboutBodies ? nil : link.server.options.bodyLimit)
        let verdict = rules.verdict(method: method, version: version)
        contents.method = method
        contents.version = version
        switch verdict {
        case .refused(let status):
            refuse(status)
            return false
        case .accepted(hasBody: false):
            link.wait = .nothing
            return false
        case .accepted(hasBody: true):
            link.wait = .body(
                until: .now().advanced(by: link.server.options.bodyTimeout.nanosecondsRoundedUp))
            return asksAboutBodies
        }
    }

    /// Moves the collected body, which is complete, to the request that the user sees.
    private func keepBody() {
        if contents.input.bytes.isEmpty { return }
        _ = request
        let bytes = contents.input.giveBytes()
        contents.request?.body = bytes
    }

    private func refuse(_ status: Int) {
        link.server.counts.value.refusedRequests += 1
        answer(HTTPServer.Response(status: status))
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer, _ count: UnsafeMutablePointer<Int>) -> Bool {
        // Once a request is answered, the rest of its streamed body is discarded.
        if contents.answer != nil && contents.input.isStreamed {
            unsafe count.pointee = 0
            return true
        }
        switch unsafe contents.input.take(bytes, limit: link.server.options.bodyLimit) {
        case .taken: unsafe count.pointee = 0
        case .full: suspend()
        case .refused:
            link.server.counts.value.refusedRequests += 1
            return false
        }
        if contents.input.isStreamed { enqueue() }
        return true
    }

    /// Duplicates the socket of a connection that leaves HTTP, and makes the user's `Connection` from the duplicate.
    fileprivate func take(_ socket: CInt, _ received: [UInt8]) {
        guard case .upgrade(_, let options, _)? = contents.answer else { return }
        // If the process has no descriptor left for the duplicate, the connection ends, and the handler is not called.
        do {
            contents.upgraded = try Connection(duplicate(socket), received: received, options: options)
        } catch {
            RunLoopDiagnostics.report(
                "HTTPExchange: the connection of \(request) cannot be taken over: \(error)")
        }
    }

    fileprivate func wasEnded(_ reason: runloops_end) {
        let late = link.isClosedAsLate
        if reason == runloops_sent { link.server.counts.value.sentAnswers += 1 }
        switch reason {
        case runloops_sent: end(.sent)
        case runloops_timed_out: end(.timedOut)
        case runloops_client_left: end(late ? .timedOut : .clientLeft)
        case runloops_daemon_stopped: end(.serverInvalidated)
        default: end(late ? .timedOut : contents.answer == nil ? .clientLeft : .failed)
        }
    }
}

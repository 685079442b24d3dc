internal import CHTTPDaemon
internal import DequeModule
internal import RunLoops

extension HTTPServer {
    /// Runs the daemon, and calls handlers each time libmicrohttpd has returned.
    func serve() {
        guard let source, isValid else { return }
        isServing = true
        while let report = source.nextReport() {
            if report.descriptor != descriptor { lookAtWaiting(report.descriptor) }
        }
        if source.deadlineHasPassed { sweepIfDue() }
        // Work beyond the budget is left for the next pass of the loop, so that many requests do not hold up other inputs of the
        // loop.
        var budget = Budget()
        repeat {
            needsRun = false
            runDaemon()
            deliverQueue()
        } while isValid && needsRun && budget.spend()
        isServing = false
        // If a handler has invalidated the server, the ends of the other requests are still to be delivered.
        if !isValid {
            deliverAll()
            return callStopHandlers()
        }
        if stopping != nil { goOnStopping(.now) }
        updateDeadline()
    }

    func runDaemon() { unsafe runloops_daemon_run(daemon) }

    /// Makes the loop run the daemon again soon, because the daemon was given work.
    func wakeDaemon() {
        needsRun = true
        if !isServing { source?.deadline = .now }
    }

    /// Sets the instant at which the loop calls `serve()` even if no descriptor is ready.
    private func updateDeadline() {
        guard let source else { return }
        if needsRun || !queue.value.isEmpty {
            source.deadline = .now
            return
        }
        // The daemon's own epoll set is edge-triggered: its descriptor reports each piece of work once, even if the daemon has not
        // finished it.
        if unsafe runloops_daemon_has_more(daemon) {
            source.deadline = .now
            return
        }
        if links.isEmpty && stopping == nil {
            sweepDate = nil
        } else if sweepDate == nil {
            sweepDate = .now + sweepInterval
        }
        if source.deadline != sweepDate { source.deadline = sweepDate }
    }

    // MARK: - Delivering

    func enqueue(_ exchange: Exchange) {
        if exchange.contents.isQueued { return }
        exchange.contents.isQueued = true
        queue.value.append(exchange)
        if !isServing { source?.deadline = .now }
    }

    /// Calls the handlers of the exchanges that are in the queue now.
    private func deliverQueue() {
        if queue.value.isEmpty || isDelivering { return }
        isDelivering = true
        for _ in 0..<queue.value.count {
            guard let exchange = queue.value.popFirst() else { break }
            deliver(exchange)
        }
        isDelivering = false
    }

    /// Calls the handlers of queued exchanges until the queue is empty, unless a handler is already running.
    func deliverAll() { while !queue.value.isEmpty && !isDelivering { deliverQueue() } }

    private func deliver(_ exchange: Exchange) {
        exchange.contents.isQueued = false
        if exchange.headerHandlerIsDue { exchange.callHeaderHandler(headerHandler) }
        if exchange.hasBytes && !exchange.contents.isPaused { deliverBytes(exchange) }
        if exchange.requestHandlerIsDue && !exchange.hasBytes && exchange.contents.answer == nil {
            exchange.callRequestHandler(requestHandler)
        }
        if exchange.contents.stream?.output.takeDrained() == true {
            exchange.contents.handlers.drained?(exchange.currentFace)
        }
        if let connection = exchange.contents.upgraded.take() {
            if case .upgrade(_, _, let handler)? = exchange.contents.answer { handler(connection) }
        }
        exchange.callEndHandler()
    }

    private func deliverBytes(_ exchange: Exchange) {
        let bytes = exchange.contents.input.giveBytes()
        // Safe: a byte has no padding.
        exchange.contents.handlers.data?(exchange.currentFace, unsafe bytes.span.bytes)
        // The connection may be suspended, because the stored bytes had reached their limit. Now there is room again.
        exchange.resume()
    }
}

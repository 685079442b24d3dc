internal import CHTTPDaemon
internal import DequeModule
internal import RunLoops

extension HTTPServer {
    /// Lets the daemon work, and calls handlers in between, when libmicrohttpd has returned.
    func serve() {
        guard let source, isValid else { return }
        isServing = true
        while let report = source.nextReport() {
            if report.descriptor != descriptor { lookAtWaiting(report.descriptor) }
        }
        if source.deadlineHasPassed { sweepIfDue() }
        // Work that is left is done in the next pass, so other inputs of the loop do not wait for many requests.
        var budget = Budget()
        repeat {
            needsRun = false
            runDaemon()
            deliverQueue()
        } while isValid && needsRun && budget.spend()
        isServing = false
        // A handler that has invalidated the server has left the ends of the other requests.
        if !isValid { return deliverAll() }
        if stopping != nil { goOnStopping(.now) }
        updateDeadline()
    }

    func runDaemon() { unsafe runloops_daemon_run(daemon) }

    /// Has the daemon run soon, because a call of ours has given it work.
    func wakeDaemon() {
        needsRun = true
        if !isServing { source?.deadline = .now }
    }

    /// Sets the date at which the daemon is to run without a report.
    private func updateDeadline() {
        guard let source else { return }
        if needsRun || !queue.isEmpty {
            source.deadline = .now
            return
        }
        // Its own set is edge-triggered: what it has not finished, its descriptor never tells of again.
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
        if exchange.isQueued { return }
        exchange.isQueued = true
        queue.append(exchange)
        if !isServing { source?.deadline = .now }
    }

    /// Calls the handlers of the exchanges that are in the queue now.
    private func deliverQueue() {
        if queue.isEmpty || isDelivering { return }
        isDelivering = true
        for _ in 0..<queue.count {
            guard let exchange = queue.popFirst() else { break }
            deliver(exchange)
        }
        isDelivering = false
    }

    /// Calls the handlers of all exchanges that have something to deliver.
    func deliverAll() { while !queue.isEmpty && !isDelivering { deliverQueue() } }

    private func deliver(_ exchange: Exchange) {
        exchange.isQueued = false
        if exchange.state.handlerIsDue && exchange.state.isAsking {
            exchange.callHeaderHandler(headerHandler)
        }
        if !exchange.input.bytes.isEmpty && exchange.input.isStreamed && !exchange.isPaused {
            deliverBytes(exchange)
        }
        let hasBytes = exchange.input.isStreamed && !exchange.input.bytes.isEmpty
        if exchange.state.handlerIsDue && !exchange.state.isAsking && !hasBytes && exchange.answer == nil {
            exchange.callRequestHandler(requestHandler)
        }
        if exchange.output.takeDrained() { exchange.handlers.drained?(exchange.currentFace) }
        if let connection = exchange.upgraded {
            exchange.upgraded = nil
            if case .upgrade(_, _, let handler)? = exchange.answer { handler(connection) }
        }
        exchange.callEndHandler()
    }

    private func deliverBytes(_ exchange: Exchange) {
        let bytes = exchange.input.giveBytes()
        // Safe: a byte has no padding.
        exchange.handlers.data?(exchange.currentFace, unsafe bytes.span.bytes)
        // The daemon may hold bytes back.
        exchange.resume()
    }
}

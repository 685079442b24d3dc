internal import CTransfers
internal import DequeModule
internal import RunLoops

extension TransferSet {
    /// Lets libcurl work on the descriptors that are ready, and calls handlers each time libcurl has returned.
    func serve() {
        guard let source = contents.source, unsafe contents.multi != nil else { return }
        contents.isServing = true
        giveTurns()
        if source.deadlineHasPassed { deadlineHasPassed() }
        deliverQueue()
        // Descriptors beyond the budget are left for the next pass of the loop, so that many transfers do not hold up other inputs
        // of the loop.
        var budget = Budget()
        while isValid && budget.spend(), let report = source.nextReport() {
            work(on: report)
            collect()
            deliverQueue()
        }
        // libcurl is to be called at once, for example for a transfer that a handler has started. Otherwise that would wait for the
        // next pass of the loop.
        if isValid, contents.libraryDeadline == .distantPast {
            deadlineHasPassed()
            deliverQueue()
        }
        contents.isServing = false
        // If a handler has invalidated the client, the ends of the other transfers are still to be delivered.
        if !isValid { return deliverAll() }
        updateDeadline()
        closeIfAbandoned()
    }

    private func work(on report: LibrarySource.Report) {
        if let transfer = contents.waitingUploads.removeValue(forKey: report.descriptor) {
            contents.source?.setInterest([], of: report.descriptor)
            return uploadHasMore(transfer)
        }
        let readiness = report.readiness
        // libcurl finds the reason for a hang-up by reading.
        unsafe runloops_transfers_act(
            contents.multi, report.descriptor, !readiness.isDisjoint(with: [.readable, .hangUp]),
            readiness.contains(.writable), readiness.contains(.error))
    }

    private func deadlineHasPassed() {
        let now = ContinuousClock.now
        if let date = contents.libraryDeadline, date <= now {
            contents.libraryDeadline = nil
            unsafe runloops_transfers_act(contents.multi, -1, false, false, false)
            collect()
        }
        if let date = contents.idleDeadline, date <= now { endIdle(now) }
    }

    /// Ends the transfers that libcurl reports as complete.
    private func collect() {
        var code: CInt = 0
        while let context = unsafe runloops_transfers_next(contents.multi, &code) {
            let transfer = unsafe transfer(context)
            finish(transfer, error(code, of: transfer))
        }
    }

    /// Ends the transfers that have been idle for ``HTTPClient/Options/idleTimeout``, and sets the instant of the next check.
    private func endIdle(_ now: ContinuousClock.Instant) {
        contents.idleDeadline = now + IdleWatch.interval(of: options.idleTimeout)
        for transfer in contents.active {
            guard let handle = unsafe transfer.contents.handle else { continue }
            let isHeld =
                transfer.contents.isHeld || transfer.contents.state.isPaused
                || transfer.contents.upload?.isWaiting == true
            let progress = unsafe runloops_transfer_progress(handle)
            if transfer.contents.idle.isIdle(
                progress: progress, isHeld: isHeld, limit: options.idleTimeout, now: now)
            {
                finish(transfer, .timedOut(.idle))
            }
        }
    }

    // MARK: - Delivering

    /// Calls the handlers of the transfers that are in the queue now.
    ///
    /// Transfers that are queued meanwhile are left for a later call.
    private func deliverQueue() {
        if contents.queue.isEmpty || contents.isDelivering { return }
        contents.isDelivering = true
        for _ in 0..<contents.queue.count {
            guard let transfer = contents.queue.popFirst() else { break }
            deliver(transfer)
        }
        contents.isDelivering = false
    }

    /// Calls the handlers of queued transfers until the queue is empty, unless a handler is already running.
    func deliverAll() { while !contents.queue.isEmpty && !contents.isDelivering { deliverQueue() } }

    private func deliver(_ transfer: HTTPTransfer) {
        transfer.contents.isQueued = false
        if transfer.contents.isReadByTask {
            _ = transfer.contents.upload?.stream?.takeDrained()
            return transfer.wakeTask()
        }
        if transfer.contents.upload?.stream?.takeDrained() == true {
            transfer.contents.handlers.drained?(transfer)
        }
        while true {
            switch transfer.contents.state.next(hasBytes: !transfer.contents.inbox.isEmpty) {
            case .response:
                if let handler = transfer.contents.handlers.response,
                    let response = transfer.contents.response
                {
                    handler(transfer, response)
                }
            case .bytes: deliverBytes(transfer)
            case .end(let error):
                transfer.contents.handlers.end.take()?(transfer, error)
                return remove(transfer)
            case .nothing: return resumeIfEmptied(transfer)
            }
        }
    }

    private func deliverBytes(_ transfer: HTTPTransfer) {
        // The bytes leave the transfer first, because it may receive new ones while the handler runs.
        var bytes = transfer.contents.inbox
        transfer.contents.inbox = []
        // Safe: a byte has no padding.
        transfer.contents.handlers.data?(transfer, unsafe bytes.span.bytes)
        guard transfer.contents.inbox.isEmpty, !transfer.contents.state.hasEnded else { return }
        bytes.removeAll(keepingCapacity: true)
        transfer.contents.inbox = bytes
    }

    /// Lets libcurl continue a transfer, if libcurl holds back bytes and the transfer has room for them.
    ///
    /// The transfer may have to wait for its turn.
    func resumeIfEmptied(_ transfer: HTTPTransfer) {
        if isReadyForBytes(transfer) { takeTurn(transfer) }
    }

    /// Lets libcurl continue a transfer at once, in both directions.
    func resume(_ transfer: HTTPTransfer) {
        guard let handle = unsafe transfer.contents.handle else { return }
        transfer.contents.isHeld = false
        // libcurl calls the callbacks here, and they may refuse to continue. In that case, libcurl returns an error, and does not
        // report the end of the transfer.
        let code = unsafe runloops_transfer_resume(handle)
        if code != 0 { finish(transfer, error(code, of: transfer)) }
    }

    /// Makes libcurl ask again for bytes of the request's body, if there were none when it last asked.
    func uploadHasMore(_ transfer: HTTPTransfer) {
        guard transfer.contents.upload?.isWaiting == true else { return }
        transfer.contents.upload?.isWaiting = false
        resume(transfer)
        // This also lets libcurl continue to receive. If the inbox has no room, the callback holds the bytes back again.
    }
}

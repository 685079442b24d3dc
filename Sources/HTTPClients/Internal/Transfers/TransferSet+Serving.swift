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
        // What exceeds the budget is left for the next pass of the loop, so that many transfers do not hold up other inputs of the
        // loop.
        while isValid, let report = source.nextReport() {
            work(on: report)
            collect()
            deliverQueue()
        }
        // libcurl is to be called at once, for example for a transfer that a handler has started. Otherwise that would wait for the
        // next pass of the loop.
        if isValid, contents.libraryDeadline == .distantPast, spend() {
            deadlineHasPassed()
            deliverQueue()
        }
        contents.isServing = false
        // If a handler has invalidated the client, the ends of the other transfers are still to be delivered.
        if !isValid { return deliverAll() }
        updateDeadline()
        closeIfAbandoned()
    }

    /// Counts a step of work, such as a call of a handler, if the budget of the pass allows it.
    func spend() -> Bool { contents.source?.spend() ?? false }

    private func work(on report: LibrarySource.Report) {
        if let transfer = contents.waitingUploads.removeValue(forKey: report.descriptor) {
            contents.source?.setInterest([], of: report.descriptor)
            return uploadHasMore(transfer)
        }
        let readiness = report.readiness
        // libcurl finds the reason for a hang-up by reading. After an error, it reads first, too: an answer can have arrived before.
        unsafe runloops_transfers_act(
            contents.multi, report.descriptor, !readiness.isDisjoint(with: [.readable, .hangUp, .error]),
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

    /// Continues with the transfers whose requests libcurl has ended.
    private func collect() {
        var code: CInt = 0
        while let multi = unsafe contents.multi, let context = unsafe runloops_transfers_next(multi, &code) {
            requestHasEnded(unsafe transfer(context), code)
        }
    }

    /// Ends the transfers that have been idle for ``HTTPClient/Options/idleTimeout``, and sets the instant of the next check.
    private func endIdle(_ now: ContinuousClock.Instant) {
        guard let limit = options.idleTimeout else { return contents.idleDeadline = nil }
        contents.idleDeadline = now + IdleWatch.interval(of: limit)
        for transfer in contents.active {
            guard let handle = unsafe transfer.contents.handle else { continue }
            let isHeld =
                transfer.contents.body.isHeld || transfer.contents.state.isPaused
                || transfer.contents.upload?.isWaiting == true
            let progress = unsafe runloops_transfer_progress(handle)
            if transfer.contents.idle.isIdle(
                progress: progress, isHeld: isHeld, limit: limit, now: now)
            {
                finish(transfer, .timedOut(.idle))
            }
        }
    }

    // MARK: - Delivering

    /// Calls the handlers of the transfers that are in the queue now, as far as the budget allows.
    ///
    /// Transfers that are queued meanwhile are left for a later call.
    private func deliverQueue() {
        if contents.queue.isEmpty || contents.isDelivering { return }
        contents.isDelivering = true
        for _ in 0..<contents.queue.count {
            guard let transfer = contents.queue.popFirst() else { break }
            if deliver(transfer, isBounded: true) { continue }
            enqueue(transfer)
            break
        }
        contents.isDelivering = false
    }

    /// Calls the handlers of queued transfers until the queue is empty, unless a handler is already running.
    func deliverAll() {
        if contents.isDelivering { return }
        contents.isDelivering = true
        while let transfer = contents.queue.popFirst() { _ = deliver(transfer, isBounded: false) }
        contents.isDelivering = false
    }

    /// Calls the handlers of a transfer that are due.
    ///
    /// - Returns: False if the budget is spent, so that handlers are left to call.
    private func deliver(_ transfer: HTTPTransfer, isBounded: Bool) -> Bool {
        transfer.contents.places.isQueued = false
        letEndsTakeEffect(transfer)
        if transfer.contents.isReadByTask {
            if isBounded && !spend() { return false }
            _ = transfer.contents.upload?.stream?.takeDrained()
            transfer.wakeTask()
            return true
        }
        if transfer.contents.upload?.stream?.hasDrained == true {
            if isBounded && !spend() { return false }
            _ = transfer.contents.upload?.stream?.takeDrained()
            transfer.contents.handlers.drained?(transfer)
            letEndsTakeEffect(transfer)
        }
        while transfer.contents.state.hasNext(hasBytes: transfer.contents.body.hasBytes) {
            if isBounded && !spend() { return false }
            switch transfer.contents.state.next(hasBytes: transfer.contents.body.hasBytes) {
            case .response:
                if let handler = transfer.contents.handlers.response,
                    let response = transfer.contents.response
                {
                    handler(transfer, response)
                }
            case .bytes: deliverBytes(transfer)
            case .end(let error):
                _ = transfer.end.beginGivingBack()
                transfer.contents.handlers.end.take()?(transfer, error ?? transfer.contents.body.problem)
                remove(transfer)
                return true
            case .nothing: break
            }
            letEndsTakeEffect(transfer)
        }
        resumeIfEmptied(transfer)
        return true
    }

    /// Lets what other threads have ended take effect, before the next handler is called.
    private func letEndsTakeEffect(_ transfer: HTTPTransfer) {
        if transfer.end.hasEnded { transfer.endHere() }
        if end.hasEnded { endHere() }
    }

    private func deliverBytes(_ transfer: HTTPTransfer) {
        // The bytes leave the transfer first, because it may receive new ones while the handler runs.
        if transfer.contents.body.isCoded {
            do throws(HTTPClientError) {
                let bytes = try transfer.contents.body.decode()
                // Safe: a byte has no padding.
                transfer.recount()
                if !bytes.isEmpty { transfer.contents.handlers.data?(transfer, unsafe bytes.span.bytes) }
            } catch { transfer.fail(error) }
            return
        }
        let bytes = transfer.contents.body.takeBytes()
        transfer.recount()
        // Safe: a byte has no padding.
        transfer.contents.handlers.data?(transfer, unsafe bytes.span.bytes)
        if !transfer.contents.state.hasEnded { transfer.contents.body.reuse(bytes) }
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
        transfer.contents.body.isHeld = false
        // libcurl calls the callbacks here, and they may refuse to continue. In that case, libcurl returns an error, and does not
        // report the end of the transfer.
        let code = unsafe runloops_transfer_resume(handle)
        if code != 0 { requestHasEnded(transfer, code) }
    }

    /// Makes libcurl ask again for bytes of the request's body, if there were none when it last asked.
    func uploadHasMore(_ transfer: HTTPTransfer) {
        guard transfer.contents.upload?.isWaiting == true else { return }
        transfer.contents.upload?.isWaiting = false
        resume(transfer)
        // This also lets libcurl continue to receive. If the inbox has no room, the callback holds the bytes back again.
    }
}

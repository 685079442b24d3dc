internal import CTransfers
internal import RunLoops

extension TransferSet {
    /// Ends a transfer, and takes its handle back from libcurl.
    ///
    /// The handlers are called later, when libcurl has returned.
    ///
    /// - Parameters:
    ///   - transfer: The transfer. If it has ended already, nothing happens.
    ///   - error: The reason that the answer is not complete; nil for a complete answer.
    func finish(_ transfer: HTTPTransfer, _ error: HTTPClientError?) {
        if transfer.contents.state.hasEnded { return }
        releaseHandle(transfer)
        transfer.contents.state.finish(error)
        // The task takes the remaining bytes from the transfer, at any later time, and needs nothing else from the set.
        if transfer.contents.isReadByTask { remove(transfer) }
        enqueue(transfer)
    }

    /// Ends a transfer, and releases its handlers except that of the end, which is called later.
    ///
    /// Without that handler, nothing is left to do, even if the loop never runs in the client's mode again.
    func cancel(_ transfer: HTTPTransfer) {
        releaseHandle(transfer)
        transfer.contents.state.cut(.cancelled)
        transfer.contents.body.discard()
        transfer.recount()
        if transfer.contents.isReadByTask || transfer.contents.handlers.end == nil {
            remove(transfer)
            return transfer.wakeTask()
        }
        var released = HTTPTransfer.Handlers()
        swap(&released, &transfer.contents.handlers)
        swap(&released.end, &transfer.contents.handlers.end)
        enqueue(transfer)
        // The handlers are released last: destroying an object that a handler holds can call the client.
        withExtendedLifetime(released) {}
    }

    /// Takes the present request of a transfer out of libcurl, and gives up the look-up of its name.
    func releaseHandle(_ transfer: HTTPTransfer) {
        // The transfer may be in `waitingUploads` although it has stopped waiting: if libcurl has taken the bytes before the loop has
        // reported the descriptor.
        if let descriptor = transfer.contents.upload?.descriptor,
            contents.waitingUploads[descriptor] === transfer
        {
            contents.waitingUploads[descriptor] = nil
            contents.source?.setInterest([], of: descriptor)
        }
        transfer.contents.hop.names.giveUp()
        guard let handle = unsafe transfer.contents.handle else { return }
        unsafe transfer.contents.handle = nil
        unsafe runloops_transfer_free(handle)
    }

    /// Watches the descriptor of a request body until there are more bytes to read from it.
    func await(_ descriptor: CInt, for transfer: HTTPTransfer) {
        contents.waitingUploads[descriptor] = transfer
        contents.source?.setInterest(.read, of: descriptor)
    }

    /// Continues with what follows when libcurl has ended a request: another request, the look-up of a name, or the end.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - code: libcurl's code.
    func requestHasEnded(_ transfer: HTTPTransfer, _ code: CInt) {
        guard transfer.contents.failure == nil, let handle = unsafe transfer.contents.handle else {
            return finish(transfer, error(code, of: transfer))
        }
        do throws(HTTPClientError) {
            switch unsafe runloops_transfer_result(handle, code) {
            case runloops_timed_out: finish(transfer, error(code, of: transfer))
            // Whatever became of the body of an answer that redirects: the header is complete.
            case _ where transfer.contents.hop.location != nil: try follow(transfer)
            case runloops_needs_host: try unsafe begin(transfer, handle, afterLookingUp: .host)
            case runloops_needs_proxy: try unsafe begin(transfer, handle, afterLookingUp: .proxy)
            default: finish(transfer, error(code, of: transfer))
            }
        } catch { finish(transfer, error) }
    }

    /// Looks up a name, and then begins a request again, unless it was sent before and must not be sent twice.
    private func begin(
        _ transfer: HTTPTransfer, _ handle: OpaquePointer, afterLookingUp kind: NameLookUps.Kind
    ) throws(HTTPClientError) {
        // libcurl has forgotten the address of a connection that it has used again, and that has ended.
        if unsafe runloops_transfer_has_sent(handle) {
            if !transfer.mayRepeat(), let failure = transfer.contents.failure { throw failure }
            if transfer.contents.upload?.rewind() == false { throw .bodyNotRepeatable }
        }
        try lookUp(kind, for: transfer)
    }

    /// Returns the error for a result code of libcurl; nil if the answer is complete.
    func error(_ code: CInt, of transfer: HTTPTransfer) -> HTTPClientError? {
        if let failure = transfer.contents.failure { return failure }
        // libcurl reports no error if the connection is closed inside a header.
        if code == 0 && transfer.contents.response == nil {
            return .connectionLost("the header is not complete")
        }
        guard let handle = unsafe transfer.contents.handle else { return nil }
        if code == 0 {
            let mayBeCut =
                transfer.contents.body.endsWithConnection && RequestLines.isSecure(transfer.contents.hop.url)
            let isCut = unsafe mayBeCut && runloops_transfer_was_cut(handle)
            return isCut ? .connectionLost("it ended without TLS's closing notice") : nil
        }
        // Safe: the handle owns the text, and this copies it.
        let words = unsafe String(cString: runloops_transfer_words(handle, code))
        let isConnecting = unsafe runloops_transfer_progress(handle) < 0
        switch unsafe runloops_transfer_result(handle, code) {
        case runloops_bad_url:
            // libcurl reports an answer that is not HTTP with the same code as an unknown scheme.
            return isConnecting ? .unsupportedURL(transfer.contents.hop.url) : .invalidResponse(words)
        case runloops_unresolved: return .unresolved(words)
        case runloops_not_connected: return .notConnected(words)
        case runloops_timed_out:
            return .timedOut(isConnecting ? transfer.contents.hop.timeoutBeforeRequest : .total)
        case runloops_tls_failed: return .tlsFailed(words)
        case runloops_bad_certificate: return .certificateRejected(words)
        case runloops_connection_lost: return .connectionLost(words)
        case runloops_bad_answer: return .invalidResponse(words)
        case runloops_not_repeatable: return .bodyNotRepeatable
        // libcurl also says that it has no memory if a line of a header is longer than it takes.
        case runloops_no_memory where transfer.contents.header.isUnderWay: return .headerLineTooLong
        default: return .other(code: Int(code), words)
        }
    }
}

extension HTTPTransfer {
    /// The result of the transfer, if all received bytes are taken.
    ///
    /// It is nil until the transfer has ended. Then it is the error, or `.some(nil)` if the answer is complete.
    var result: HTTPClientError?? {
        guard let result = contents.state.result else { return nil }
        return .some(result ?? contents.body.problem)
    }

    /// Ends the transfer because its body cannot be decoded.
    func fail(_ error: HTTPClientError) {
        contents.body.discard()
        recount()
        contents.transferSet?.finish(self, error)
        contents.state.fail(error)
    }
}

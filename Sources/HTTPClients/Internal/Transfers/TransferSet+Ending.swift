internal import CTransfers
internal import RunLoops

extension TransferSet {
    /// The maximum number of libcurl's handles that are kept for later transfers.
    private static let spareLimit = 64

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

    /// Ends a transfer without calling its handlers.
    func cancel(_ transfer: HTTPTransfer) {
        releaseHandle(transfer)
        transfer.contents.state.cancel()
        transfer.contents.inbox = []
        remove(transfer)
        transfer.wakeTask()
    }

    private func releaseHandle(_ transfer: HTTPTransfer) {
        // The transfer may be in `waitingUploads` although it has stopped waiting: if libcurl has taken the bytes before the loop has
        // reported the descriptor.
        if let descriptor = transfer.contents.upload?.descriptor,
            contents.waitingUploads[descriptor] === transfer
        {
            contents.waitingUploads[descriptor] = nil
            contents.source?.setInterest([], of: descriptor)
        }
        guard let handle = unsafe transfer.contents.handle else { return }
        unsafe transfer.contents.handle = nil
        unsafe runloops_transfer_end(handle, contents.multi)
        // A handle that followed a redirect, or had a user and a password, is not used for another request.
        let letters = transfer.request.url.utf8.span
        let isClean =
            transfer.contents.redirects == 0
            && letters.indices.allSatisfy { letters[$0] != UInt8(ascii: "@") }
        if isClean, unsafe contents.spareHandles.count < TransferSet.spareLimit {
            unsafe contents.spareHandles.append(handle)
        } else {
            unsafe runloops_transfer_free(handle)
        }
    }

    /// Watches the descriptor of a request body until there are more bytes to read from it.
    func await(_ descriptor: CInt, for transfer: HTTPTransfer) {
        contents.waitingUploads[descriptor] = transfer
        contents.source?.setInterest(.read, of: descriptor)
    }

    /// Returns the error for a result code of libcurl; nil if the answer is complete.
    func error(_ code: CInt, of transfer: HTTPTransfer) -> HTTPClientError? {
        if let failure = transfer.contents.failure { return failure }
        // libcurl reports no error if the connection is closed inside a header.
        if code == 0 && transfer.contents.response == nil {
            return .connectionLost("the header is not complete")
        }
        guard code != 0, let handle = unsafe transfer.contents.handle else { return nil }
        // Safe: the handle owns the text, and this copies it.
        let words = unsafe String(cString: runloops_transfer_words(handle, code))
        let isConnecting = unsafe runloops_transfer_progress(handle) < 0
        switch runloops_transfer_result(code, transfer.contents.redirects > 0) {
        case runloops_bad_url:
            // libcurl reports an answer that is not HTTP with the same code as an unknown scheme.
            return isConnecting ? .unsupportedURL(transfer.request.url) : .invalidResponse(words)
        case runloops_bad_redirect: return .redirectRefused(words)
        case runloops_unresolved: return .unresolved(words)
        case runloops_not_connected: return .notConnected(words)
        case runloops_timed_out:
            // Before the request is sent, the time limits of the connection and of the whole transfer both apply. The shorter one
            // has passed.
            let isWhole = transfer.request.timeout.map { $0 <= options.connectTimeout } ?? false
            return .timedOut(isConnecting && !isWhole ? .connect : .total)
        case runloops_tls_failed: return .tlsFailed(words)
        case runloops_bad_certificate: return .certificateRejected(words)
        case runloops_too_many_redirects: return .tooManyRedirects(limit: options.redirectLimit)
        case runloops_connection_lost:
            return .connectionLost(words)
        case runloops_bad_answer: return .invalidResponse(words)
        case runloops_not_repeatable: return .bodyNotRepeatable
        default: return .other(code: Int(code), words)
        }
    }
}

internal import CTransfers
internal import RunLoops

// libcurl calls these closures while one of its functions runs. They only copy and record: they run no transfer, and call no user
// code.

/// The callbacks with which libcurl delivers the received bytes of a transfer, and asks for the bytes to send.
func transferCallbacks() -> runloops_callbacks {
    unsafe runloops_callbacks(
        header: { bytes, count, context in
            // Safe: the bytes are valid during the call.
            let line = unsafe Span<UInt8>(
                _unsafeElements: UnsafeBufferPointer(
                    start: bytes?.assumingMemoryBound(to: UInt8.self), count: count))
            return unsafe withTransfer(context) { $0.takeHeader(line) }
        },
        body: { bytes, count, context in
            // Safe: the bytes are valid during the call.
            let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
            return unsafe withTransfer(context) { unsafe $0.takeBody(bytes) }
        },
        give: { bytes, count, context in
            // Safe: the room is valid during the call.
            let room = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
            return unsafe withTransfer(context) { unsafe $0.giveBody(room) }
        },
        rewind: { context in unsafe withTransfer(context) { $0.contents.upload?.rewind() ?? false } })
}

/// Returns the transfer that libcurl passes to its callbacks as the context.
func transfer(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
    // Safe: the set holds the transfer as long as libcurl has its handle.
    unsafe Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue()
}

/// Calls a closure with the transfer that libcurl passes as the context, without changing the reference count of the transfer.
private func withTransfer<Result>(
    _ context: UnsafeMutableRawPointer?, _ body: (HTTPTransfer) -> Result
) -> Result {
    // Safe: the set holds the transfer as long as libcurl has its handle.
    unsafe Unmanaged<HTTPTransfer>.fromOpaque(context!)._withUnsafeGuaranteedRef(body)
}

extension HTTPTransfer {
    /// The limit on the bytes in a transfer's inbox; at the limit, libcurl must hold back further bytes.
    ///
    /// The inbox holds the received bytes that no handler or task has taken yet. The callback for the body checks the limit,
    /// because libcurl can read up to a hundred times from one socket in one call.
    static let inboxLimit = 128 << 10

    fileprivate func takeHeader(_ line: Span<UInt8>) -> Bool {
        if contents.transferSet == nil { return false }
        switch contents.header.add(line) {
        case .incomplete, .notShown: return true
        case .tooLong: return refuse(.headerTooLarge(limit: contents.header.limit))
        case .invalid(let words): return refuse(.invalidResponse(words))
        case .complete: break
        }
        guard let transferSet = contents.transferSet else { return false }
        if contents.header.redirects && transferSet.options.redirectLimit > 0 {
            contents.redirects += 1
            // After a 303, the next request is a GET, unless the method is HEAD. libcurl changes the method only if no custom
            // method name is set.
            if contents.header.status == 303, let handle = unsafe contents.handle {
                unsafe runloops_transfer_forget_method(handle)
            }
            return true
        }
        contents.response = HTTPResponse(
            contents.header, url: contents.redirects == 0 ? request.url : currentURL)
        contents.state.headerIsComplete()
        transferSet.enqueue(self)
        return true
    }

    /// The URL that libcurl has reached by following redirects.
    private var currentURL: String {
        guard let handle = unsafe contents.handle, let url = unsafe runloops_transfer_url(handle) else {
            return request.url
        }
        // Safe: libcurl owns the string, and this copies it.
        return unsafe String(cString: url)
    }

    fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) -> runloops_taking {
        guard let transferSet = contents.transferSet else { return runloops_refused }
        if contents.inbox.count >= HTTPTransfer.inboxLimit {
            contents.isHeld = true
            return runloops_hold
        }
        contents.receivedByteCount += bytes.count
        if let limit = transferSet.options.bodyLimit, contents.receivedByteCount > limit {
            _ = refuse(.bodyTooLarge(limit: limit))
            return runloops_refused
        }
        // Safe: the bytes are copied during the call.
        unsafe contents.inbox.append(contentsOf: bytes)
        transferSet.enqueue(self)
        return runloops_taken
    }

    fileprivate func giveBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
        if contents.upload == nil { return 0 }
        let count: Int?
        do throws(HTTPClientError) { count = try unsafe contents.upload?.give(room) } catch {
            _ = refuse(error)
            return Int(runloops_read_failed)
        }
        if contents.upload?.stream?.hasDrained == true { contents.transferSet?.enqueue(self) }
        if let descriptor = contents.upload?.awaitedDescriptor {
            contents.transferSet?.await(descriptor, for: self)
        }
        return count ?? Int(runloops_read_wait)
    }

    private func refuse(_ error: HTTPClientError) -> Bool {
        contents.failure = error
        return false
    }
}

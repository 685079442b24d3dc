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
        rewind: { context in unsafe withTransfer(context) { $0.contents.upload?.rewind() ?? false } },
        repeat: { context in unsafe withTransfer(context) { $0.mayRepeat() } })
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
    fileprivate func takeHeader(_ line: Span<UInt8>) -> Bool {
        guard let transferSet = contents.transferSet else { return false }
        if !contents.stored.account.takesHeader(line.count, of: contents.stored) {
            return refuse(.noRoomForHeader(limit: transferSet.options.inputLimit ?? 0))
        }
        defer { recount() }
        if contents.header.isAtStart && !speaksVersion(of: line) {
            return refuse(.invalidResponse("its version of HTTP is not the one of the connection"))
        }
        switch contents.header.add(line) {
        case .incomplete, .notShown: return true
        case .tooLong: return refuse(.headerTooLarge(limit: contents.header.limit))
        case .invalid(let words): return refuse(.invalidResponse(words))
        case .complete: break
        }
        do throws(HTTPClientError) {
            if transferSet.options.redirectLimit > 0, let location = try contents.header.location() {
                contents.hop.location = location
                return true
            }
            if contents.header.status == 101 && !request.headerFields.contains(.upgrade) {
                throw .invalidResponse("it switches to a protocol that was not asked for")
            }
            try contents.body.begin(
                contents.header, method: contents.hop.method,
                decodes: transferSet.options.acceptsCompression && contents.header.status != 206,
                acceptsAll: request.headerFields.contains(.acceptEncoding))
        } catch { return refuse(error) }
        contents.response = HTTPClient.ResponseHead(contents.header, url: contents.hop.url)
        contents.state.headerIsComplete()
        transferSet.enqueue(self)
        return true
    }

    /// True if a status line has the version of HTTP that the connection speaks.
    ///
    /// libcurl believes the line, and would treat the connection as one that many requests share.
    private func speaksVersion(of line: Span<UInt8>) -> Bool {
        let offset = "HTTP/".utf8.count
        guard line.count > offset, let handle = unsafe contents.handle else { return true }
        let isVersion1 = line[offset] == UInt8(ascii: "1")
        switch unsafe runloops_transfer_spoken(handle) {
        case runloops_speaks_http1: return isVersion1
        case runloops_speaks_http2: return !isVersion1
        default: return true
        }
    }

    fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) -> runloops_taking {
        guard let transferSet = contents.transferSet else { return runloops_refused }
        // The bodies of redirects are read only so that their connections can be used again. A long one is not worth that.
        if contents.hop.location != nil {
            return contents.hop.discard(bytes.count) ? runloops_taken : runloops_refused
        }
        if !contents.stored.account.takesBody(bytes.count, of: contents.stored) {
            if !contents.body.hasBytes { contents.stored.account.wait(self) }
            contents.body.isHeld = true
            return runloops_hold
        }
        defer { recount() }
        do throws(HTTPClientError) {
            if try unsafe !contents.body.take(bytes) { return runloops_hold }
        } catch {
            _ = refuse(error)
            return runloops_refused
        }
        transferSet.enqueue(self)
        return runloops_taken
    }

    /// Decides if libcurl may send the request again, because the connection has ended before the first byte of an answer.
    ///
    /// The server may have carried out the request. So only requests are sent again that have the same effect twice as once; see RFC
    /// 9110, 9.2.2.
    func mayRepeat() -> Bool {
        if contents.hop.isIdempotent && contents.response == nil {
            contents.header = HeaderBlock(limit: contents.header.limit)
            return true
        }
        return refuse(
            .connectionLost("the server has closed it, and \(contents.hop.method) is not sent again"))
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

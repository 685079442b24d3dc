internal import CTransfers
internal import RunLoops

extension TransferSet {
    /// Makes a transfer, which begins at once or waits for its turn.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - file: The body, if it is read from a descriptor; nil if the body is the one in `request`.
    ///   - origin: The source location of the user's call.
    ///   - configure: The user's closure that sets the handlers.
    /// - Returns: The transfer.
    func start(
        _ request: HTTPClient.Request, _ file: UploadFile?, _ origin: SourceLocation,
        _ configure: (HTTPTransfer) -> Void
    ) -> HTTPTransfer {
        loop.requireOwnThread(
            "HTTPClient.start", "perform a block on the loop of the client and start it there")
        let transfer = HTTPTransfer(request, self, origin)
        _ = transfer.end.join(loop)
        if !isValid {
            transfer.contents.state.cut(.clientInvalidated)
            _ = transfer.end.beginGivingBack()
            transfer.contents.transferSet = nil
            return transfer
        }
        add(transfer)
        transfer.contents.upload = upload(of: request, file)
        if let timeout = request.timeout { transfer.contents.hop.deadline = .now + timeout }
        configure(transfer)
        // The closure may have cancelled the transfer, or invalidated the client.
        if !transfer.isOpen || !isValid { return transfer }
        takeTurn(transfer)
        return transfer
    }

    private func upload(of request: HTTPClient.Request, _ file: UploadFile?) -> Upload? {
        if let file { return Upload(.file(file)) }
        switch request.body {
        case .none: return nil
        // libcurl copies a small body of a POST when the transfer begins, and asks for all other bodies piece by piece.
        case .bytes(let bytes):
            return request.method == .post && bytes.count <= 65_536 ? nil : Upload(.bytes(bytes, given: 0))
        case .stream(let count): return Upload(.stream(UploadStream(expected: count)))
        }
    }

    /// Begins a request of a transfer: makes one of libcurl's handles for it, and adds the handle to the multi handle.
    func begin(_ transfer: HTTPTransfer) throws(HTTPClientError) {
        let hop = transfer.contents.hop
        try RequestLines.check(hop, transfer.request)
        let limits = try timeLimits(of: transfer)
        guard let handle = unsafe settings.makeHandle(contents.multi, for: transfer) else {
            throw .other(code: 27, "out of memory or settings refused")
        }
        unsafe transfer.contents.handle = handle
        let upload = transfer.contents.upload
        for line in RequestLines.lines(of: hop, hasBody: upload != nil) {
            if unsafe !runloops_transfer_add_field(handle, line) { throw .other(code: 27, "out of memory") }
        }
        var values = unsafe runloops_request()
        unsafe (values.connect_milliseconds, values.milliseconds) = limits
        unsafe values.numeric_names = hop.names.numericCount
        unsafe values.is_secure = RequestLines.isSecure(hop.url)
        var isOther = false
        switch hop.method {
        case .get where upload == nil: unsafe values.method = runloops_get
        case .head where upload == nil: unsafe values.method = runloops_head
        case .post: unsafe values.method = runloops_post
        case .put where upload != nil: unsafe values.method = runloops_put
        // Servers expect a body of these methods, so its length is stated even if it is empty; RFC 9110, 8.6.
        case .put where upload == nil, .patch where upload == nil:
            unsafe values.method = runloops_post
            isOther = true
        default:
            unsafe values.method = runloops_other_method
            isOther = true
        }
        if let upload {
            unsafe values.body = runloops_given_body
            unsafe values.count = Int64(TransferSet.count(of: upload, transfer.request) ?? -1)
        }
        var copied: [UInt8] = []
        if upload == nil && hop.hasBody, case .bytes(let bytes) = transfer.request.body { copied = bytes }
        // Safe: libcurl copies the strings and the bytes.
        let code = unsafe withStrings(
            (
                hop.url, isOther ? hop.method.rawValue : nil, hop.names.host.addresses,
                hop.names.proxy.addresses
            )
        ) { url, name, hostAddresses, proxyAddresses in
            unsafe copied.withUnsafeBytes { bytes in
                unsafe (values.url, values.name) = (url, name)
                unsafe (values.host_addresses, values.proxy_addresses) = (hostAddresses, proxyAddresses)
                if upload == nil {
                    unsafe values.body = runloops_copied_body
                    unsafe values.bytes = bytes.baseAddress
                    unsafe values.count = Int64(bytes.count)
                    if unsafe values.method != runloops_post { unsafe values.body = runloops_no_body }
                }
                return unsafe runloops_transfer_begin(handle, &values)
            }
        }
        if code != 0 { throw error(code, of: transfer) ?? .other(code: Int(code), "") }
    }

    /// Returns the milliseconds that the connection and the whole request may take; 0 for no limit.
    private func timeLimits(of transfer: HTTPTransfer) throws(HTTPClientError) -> (Int, Int) {
        let connect = transfer.contents.hop.names.connectTimeLeft(of: options.connectLimit)
        guard let deadline = transfer.contents.hop.deadline else {
            return (TransferSet.milliseconds(connect), 0)
        }
        let left = deadline - .now
        if left <= .zero { throw .timedOut(.total) }
        transfer.contents.hop.timeoutBeforeRequest = left <= connect ? .total : .connect
        return (TransferSet.milliseconds(connect), TransferSet.milliseconds(left))
    }

    private static func count(of upload: Upload, _ request: HTTPClient.Request) -> Int? {
        switch upload.source {
        case .bytes(let bytes, _): return bytes.count
        case .file(let file): return file.count
        case .stream:
            if case .stream(let length) = request.body { return length }
            return nil
        }
    }

    /// The milliseconds of a duration, rounded up; at least 1, because libcurl takes 0 as no limit, and at most what libcurl takes.
    static func milliseconds(_ duration: Duration) -> Int {
        if duration >= .milliseconds(Int32.max) { return Int(Int32.max) }
        return max(1, Int((duration / .milliseconds(1)).rounded(.up)))
    }
}

/// Calls a closure with the C strings of texts, which are valid until the closure returns.
private func withStrings<Result>(
    _ texts: (String, String?, String?, String?),
    _ body: (
        UnsafePointer<CChar>, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?
    ) -> Result
) -> Result {
    unsafe texts.0.withCString { first in
        unsafe withString(texts.1) { second in
            unsafe withString(texts.2) { third in
                unsafe withString(texts.3) { fourth in unsafe body(first, second, third, fourth) }
            }
        }
    }
}

private func withString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}

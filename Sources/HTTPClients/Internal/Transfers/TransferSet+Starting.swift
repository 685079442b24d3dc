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
        _ request: HTTPRequest, _ file: UploadFile?, _ origin: SourceLocation,
        _ configure: (HTTPTransfer) -> Void
    ) -> HTTPTransfer {
        loop.requireOwnThread(
            "HTTPClient.start", "perform a block on the loop of the client and start it there")
        let transfer = HTTPTransfer(request, self, origin)
        if !isValid {
            transfer.contents.state.cancel()
            transfer.contents.transferSet = nil
            return transfer
        }
        add(transfer)
        transfer.contents.upload = upload(of: request, file)
        configure(transfer)
        // The closure may have cancelled the transfer, or invalidated the client.
        if transfer.contents.transferSet == nil || !isValid { return transfer }
        takeTurn(transfer)
        return transfer
    }

    private func upload(of request: HTTPRequest, _ file: UploadFile?) -> Upload? {
        if let file { return Upload(.file(file)) }
        switch request.body {
        case .none: return nil
        // libcurl copies a small body of a POST when the transfer begins, and asks for all other bodies piece by piece.
        case .bytes(let bytes):
            return request.method == "POST" && bytes.count <= 65_536 ? nil : Upload(.bytes(bytes, given: 0))
        case .stream(let count): return Upload(.stream(UploadStream(expected: count)))
        }
    }

    /// Begins a transfer: configures one of libcurl's handles for it, and adds the handle to the multi handle.
    func begin(_ transfer: HTTPTransfer) throws(HTTPClientError) {
        let request = transfer.request
        try RequestLines.check(request)
        guard let handle = unsafe takeHandle() else {
            throw .other(code: 27, "out of memory or settings refused")
        }
        unsafe transfer.contents.handle = handle
        for line in RequestLines.lines(of: request, hasBody: transfer.contents.upload != nil) {
            if unsafe !runloops_transfer_add_field(handle, line) { throw .other(code: 27, "out of memory") }
        }
        var settings = unsafe runloops_request()
        unsafe settings.milliseconds = request.timeout.map { TransferSet.milliseconds($0) } ?? 0
        unsafe settings.count = 0
        unsafe settings.shares_connection = RequestLines.isSecure(request.url)
        var isOther = false
        switch request.method {
        case "GET" where transfer.contents.upload == nil: unsafe settings.method = runloops_get
        case "HEAD" where transfer.contents.upload == nil: unsafe settings.method = runloops_head
        case "POST": unsafe settings.method = runloops_post
        case "PUT" where transfer.contents.upload != nil: unsafe settings.method = runloops_put
        default:
            unsafe settings.method = runloops_other_method
            isOther = true
        }
        if let upload = transfer.contents.upload {
            unsafe settings.body = runloops_given_body
            unsafe settings.count = Int64(TransferSet.count(of: upload, request) ?? -1)
        }
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        // Safe: libcurl copies the strings and the bytes.
        let code = unsafe request.url.withCString { url in
            unsafe request.method.withCString { name in
                unsafe settings.url = url
                unsafe settings.name = isOther ? name : nil
                guard transfer.contents.upload == nil, case .bytes(let bytes) = request.body else {
                    return unsafe runloops_transfer_begin(handle, contents.multi, &settings, context)
                }
                return unsafe bytes.withUnsafeBytes { bytes in
                    unsafe settings.body = runloops_copied_body
                    unsafe settings.bytes = bytes.baseAddress
                    unsafe settings.count = Int64(bytes.count)
                    return unsafe runloops_transfer_begin(handle, contents.multi, &settings, context)
                }
            }
        }
        if code != 0 { throw error(code, of: transfer) ?? .other(code: Int(code), "") }
    }

    private static func count(of upload: Upload, _ request: HTTPRequest) -> Int? {
        switch upload.source {
        case .bytes(let bytes, _): return bytes.count
        case .file(let file): return file.count
        case .stream:
            if case .stream(let count) = request.body { return count }
            return nil
        }
    }

    /// Removes and returns a spare handle, or makes a new one; nil if that fails.
    private func takeHandle() -> OpaquePointer? {
        if let spare = unsafe contents.spareHandles.popLast() { return unsafe spare }
        var callbacks = transferCallbacks()
        // Safe: libcurl copies the strings.
        return unsafe withStrings([
            options.proxyText, options.authorities, options.identity?.certificate, options.identity?.key,
            options.userAgent,
        ]) { strings in
            var settings = unsafe runloops_settings(
                connect_milliseconds: TransferSet.milliseconds(options.connectTimeout),
                redirects: options.redirectLimit,
                is_compressed: options.acceptsCompression, versions: options.libraryVersions,
                proxy: strings[0],
                authorities: strings[1], certificate: strings[2], key: strings[3], agent: strings[4])
            return unsafe runloops_transfer_new(&settings, &callbacks)
        }
    }

    /// The milliseconds of a duration, rounded up; at least 1, because libcurl takes 0 as no limit.
    private static func milliseconds(_ duration: Duration) -> Int {
        Int(max(1, duration / .milliseconds(1)).rounded(.up))
    }
}

extension HTTPClient.Options {
    fileprivate var proxyText: String? {
        switch proxy {
        case .environment: nil
        case .none: ""
        case .url(let url): url
        }
    }

    fileprivate var libraryVersions: runloops_versions {
        switch versions {
        case .automatic: runloops_automatic_version
        case .http1: runloops_http1
        }
    }
}

/// Calls a closure with C copies of strings, which are valid until the closure returns.
private func withStrings<Result>(
    _ strings: [String?], _ found: [UnsafePointer<CChar>?] = unsafe [],
    _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    if unsafe found.count == strings.count { return unsafe body(found) }
    guard let next = unsafe strings[found.count] else {
        return unsafe withStrings(strings, found + [nil], body)
    }
    return unsafe next.withCString { unsafe withStrings(strings, found + [$0], body) }
}

public import RunLoops

/// An HTTP client whose transfers a loop serves while the loop runs in a given mode.
///
/// ```swift
/// let client = try HTTPClient()
/// client.start(HTTPClient.Request("https://example.org/")) { transfer in
///     transfer.onResponse { _, response in print(response.status.code) }
///     transfer.onData { _, bytes in print("\(bytes.byteCount) bytes") }
///     transfer.onEnd { _, error in print(error.map { "\($0)" } ?? "complete") }
/// }
/// RunLoop.current.run()
/// ```
///
/// libcurl implements the transfers: HTTP/1.1 and HTTP/2, TLS, proxies, and the reuse of connections. The transfers need no thread
/// except the loop's. Only host names are resolved on a few threads, which all clients and connections of the process share.
///
/// The client serves its transfers while the loop runs in the client's mode. While the loop runs in another mode, the transfers and
/// their handlers wait. A transfer under way keeps the mode alive. A client without transfers does not.
///
/// After you release the client, it ends when its last transfer has ended. ``invalidate()`` ends it immediately.
///
/// For more, see <doc:HTTPOnALoop>.
///
/// > Thread safety: ``invalidate()`` and ``isValid`` from any thread, and the last reference may be released on any thread. All other
/// > members from the thread of the loop only.
public final class HTTPClient {
    /// The loop that serves the transfers.
    public var loop: RunLoop { transferSet.loop }

    /// The mode in which the loop serves the transfers.
    public var mode: RunLoop.Mode { transferSet.mode }

    /// The limits and defaults of the client.
    public var options: Options { transferSet.options }

    let transferSet: TransferSet

    /// Makes a client on the loop of the calling thread.
    ///
    /// - Parameters:
    ///   - mode: The mode to serve transfers in; ``/RunLoops/RunLoop/Mode/common`` stands for all common modes, including those
    ///     that are added later.
    ///   - options: The limits and defaults.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if the process has no descriptor left (`EMFILE`), there is no memory (`ENOMEM`), or
    ///   ``Options/unixSocketPath`` is too long (`ENAMETOOLONG`) or cannot be a path (`EINVAL`).
    public init(
        mode: RunLoop.Mode = .default, options: Options = Options(), fileID: StaticString = #fileID,
        line: Int = #line
    ) throws(SystemError) {
        if case .url(let proxy) = options.proxy, proxy.isEmpty || proxy.utf8.contains(0) {
            misuse("HTTPClient.init: the URL of the proxy is empty or has a NUL; use .none for no proxy")
        }
        if let agent = options.userAgent, !MessageRules.isFieldValue(agent) {
            misuse(
                "HTTPClient.init: the user agent \(agent.debugDescription) has a line break or NUL; remove it"
            )
        }
        try options.checkUnixSocketPath()
        transferSet = try TransferSet(.current, mode, options, SourceLocation(fileID, line))
    }

    deinit {
        let last = LastReference(transferSet: transferSet)
        transferSet.loop.doLast { last.transferSet.clientIsGone() }
    }

    /// The set that the client's `deinit` passes to the thread of the loop.
    ///
    /// `@unchecked`: all uses of the set are on that thread, but for its end, which any thread may bring about.
    private struct LastReference: @unchecked Sendable { let transferSet: TransferSet }

    /// Starts a transfer.
    ///
    /// No handler is called during this call. If the request is invalid, the handler of ``HTTPTransfer/onEnd(_:)`` is called in the
    /// next pass of the loop.
    ///
    /// If the client is no longer valid, the transfer has ended when this method returns, and neither `configure` nor a handler is
    /// called.
    ///
    /// The client holds the transfer until it ends or is cancelled, and the transfer holds its handlers. A handler may therefore
    /// capture any object. It should not capture the transfer, but use the one that is passed to it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - configure: Called with the transfer before this method returns, to set the handlers of the transfer.
    /// - Returns: The transfer.
    @discardableResult
    public func start(
        _ request: Request, fileID: StaticString = #fileID, line: Int = #line,
        configure: (HTTPTransfer) -> Void
    ) -> HTTPTransfer {
        transferSet.start(request, nil, SourceLocation(fileID, line), configure)
    }

    /// Starts a transfer whose request body is read from a descriptor.
    ///
    /// A regular file is sent from its offset to its end, and again from that offset if the body must be sent again, for example
    /// after a redirect. The loop's thread reads the file, and waits for the disk. A pipe or socket is made non-blocking, and its
    /// bytes are sent as they arrive, until its end. In all other respects, this method behaves like
    /// ``start(_:fileID:line:configure:)``.
    ///
    /// - Parameters:
    ///   - request: The request, whose body is ignored.
    ///   - descriptor: The descriptor, which is closed when the transfer has ended.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - configure: Called with the transfer before this method returns, to set the handlers of the transfer.
    /// - Returns: The transfer.
    @discardableResult
    public func start(
        _ request: Request, uploading descriptor: consuming OwnedDescriptor,
        fileID: StaticString = #fileID,
        line: Int = #line, configure: (HTTPTransfer) -> Void
    ) -> HTTPTransfer {
        transferSet.start(request, UploadFile(descriptor), SourceLocation(fileID, line), configure)
    }

    /// The number of transfers that have not ended, or whose ends are still to be reported.
    public var transferCount: Int { transferSet.contents.active.count }

    /// True until the client is invalidated, or the thread of its loop ends.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !transferSet.end.hasEnded }

    /// Ends all transfers with ``HTTPClientError/Reason/clientInvalidated``, and closes all connections.
    ///
    /// On the thread of the loop, the handlers of ``HTTPTransfer/onEnd(_:)`` are called before this method returns. If a handler of
    /// the client calls this method, the `onEnd` handlers are called after that handler. On another thread, the loop calls them in
    /// its next pass, and no other handler of the client's transfers begins once this method has returned. Bytes that were not
    /// delivered are discarded. Calling this method again does nothing.
    ///
    /// > Thread safety: any thread; see <doc:HTTPOnALoop>.
    public func invalidate() { transferSet.endAnywhere() }
}

@available(*, unavailable)
extension HTTPClient: Sendable {}

extension HTTPClient: CustomStringConvertible {
    /// A description with the source location at which the client was made.
    public var description: String { "\(isValid ? "" : "invalid ")HTTP client made at \(transferSet.origin)" }
}

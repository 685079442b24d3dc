public import RunLoops

/// An HTTP client whose transfers a loop serves while the loop runs in a given mode.
///
/// ```swift
/// let client = try HTTPClient(loop: .current, mode: .default)
/// client.start(HTTPRequest("https://example.org/")) { transfer in
///     transfer.onResponse { _, response in print(response.status) }
///     transfer.onData { _, bytes in print("\(bytes.byteCount) bytes") }
///     transfer.onEnd { _, error in print(error.map { "\($0)" } ?? "complete") }
/// }
/// RunLoop.current.run()
/// ```
///
/// libcurl implements the transfers: HTTP/1.1 and HTTP/2, TLS, compression, proxies, redirects, and the reuse of connections. The
/// transfers need no thread except the loop's. Only host names are resolved on threads of libcurl.
///
/// The client serves its transfers while the loop runs in the client's mode. While the loop runs in another mode, the transfers and
/// their handlers wait. A transfer under way keeps the mode alive. A client without transfers does not.
///
/// After you release the client, it ends when its last transfer has ended. ``invalidate()`` ends it immediately.
///
/// For more, see <doc:HTTPOnALoop>.
///
/// > Thread safety: the thread of the loop only.
public final class HTTPClient {
    /// The loop that serves the transfers.
    public var loop: RunLoop { transferSet.loop }

    /// The mode in which the loop serves the transfers.
    public let mode: RunLoop.Mode

    /// The limits and defaults of the client.
    public var options: Options { transferSet.options }

    let transferSet: TransferSet

    /// Makes a client on the loop of the calling thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode to serve transfers in; ``/RunLoops/RunLoop/Mode/common`` stands for all common modes, including those
    ///     that are added later.
    ///   - options: The limits and defaults.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if the process has no descriptor left (`EMFILE`), or there is no memory (`ENOMEM`).
    /// - Precondition: Called on the thread of the loop.
    public init(
        loop: RunLoop, mode: RunLoop.Mode = .default, options: Options = Options(),
        fileID: StaticString = #fileID,
        line: Int = #line
    ) throws(SystemError) {
        loop.requireOwnThread("HTTPClient.init", "perform a block on the loop and make the client there")
        self.mode = mode
        transferSet = try TransferSet(loop, mode, options, SourceLocation(fileID, line))
    }

    deinit { transferSet.clientIsGone() }

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
        _ request: HTTPRequest, fileID: StaticString = #fileID, line: Int = #line,
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
        _ request: HTTPRequest, uploading descriptor: consuming OwnedDescriptor,
        fileID: StaticString = #fileID,
        line: Int = #line, configure: (HTTPTransfer) -> Void
    ) -> HTTPTransfer {
        transferSet.start(request, UploadFile(descriptor), SourceLocation(fileID, line), configure)
    }

    /// The number of transfers that have not ended.
    public var transferCount: Int { transferSet.contents.active.count }

    /// True until the client is invalidated, or the thread of its loop ends.
    public var isValid: Bool { transferSet.isValid }

    /// Ends all transfers with ``HTTPClientError/clientInvalidated``, and closes all connections.
    ///
    /// The handlers of ``HTTPTransfer/onEnd(_:)`` are called before this method returns. If a handler of the client calls this
    /// method, the `onEnd` handlers are called after that handler. Bytes that were not delivered are discarded. Calling this
    /// method again does nothing.
    public func invalidate() {
        loop.requireOwnThread("HTTPClient.invalidate", "perform a block on the loop and call it there")
        transferSet.close()
    }
}

@available(*, unavailable)
extension HTTPClient: Sendable {}

extension HTTPClient: CustomStringConvertible {
    /// A description with the source location at which the client was made.
    public var description: String { "\(isValid ? "" : "invalid ")HTTP client made at \(transferSet.origin)" }
}

/// An object that receives the events of a transfer, for code that already uses delegates.
///
/// Start the transfer with ``HTTPClient/start(_:delegate:fileID:line:)``. The transfer holds its delegate until it ends or is
/// cancelled. As with ``HTTPTransfer/cancel()`` in general, a delegate is not called after its transfer was cancelled.
///
/// > Thread safety: the thread of the client's loop only.
public protocol HTTPTransferDelegate: AnyObject {
    /// Called once when the header of the answer is complete.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - response: The header.
    func transfer(_ transfer: HTTPTransfer, didReceive response: HTTPResponse)

    /// Called with each piece of the body.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - bytes: The bytes, decoded, which are valid until the call returns.
    func transfer(_ transfer: HTTPTransfer, didReceive bytes: RawSpan)

    /// Called when more of the request's body may be written.
    ///
    /// - Parameter transfer: The transfer.
    func transferCanWrite(_ transfer: HTTPTransfer)

    /// Called once, after all other calls.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - error: The reason that the answer is not complete; nil if it is.
    func transfer(_ transfer: HTTPTransfer, didEndWith error: HTTPClientError?)
}

extension HTTPTransferDelegate {
    /// Does nothing.
    public func transfer(_ transfer: HTTPTransfer, didReceive response: HTTPResponse) {}

    /// Does nothing.
    public func transferCanWrite(_ transfer: HTTPTransfer) {}
}

extension HTTPClient {
    /// Starts a transfer that calls a delegate.
    ///
    /// Apart from that, behaves like ``start(_:fileID:line:configure:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - delegate: The object that is called. The transfer holds it until it ends or is cancelled.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: The transfer.
    @discardableResult
    public func start(
        _ request: HTTPRequest, delegate: any HTTPTransferDelegate, fileID: StaticString = #fileID,
        line: Int = #line
    ) -> HTTPTransfer {
        start(request, fileID: fileID, line: line) { transfer in
            transfer.onResponse { delegate.transfer($0, didReceive: $1) }
            transfer.onData { delegate.transfer($0, didReceive: $1) }
            transfer.onDrained { delegate.transferCanWrite($0) }
            transfer.onEnd { delegate.transfer($0, didEndWith: $1) }
        }
    }
}

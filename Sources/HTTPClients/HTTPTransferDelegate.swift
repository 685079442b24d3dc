/// An object that receives the events of a transfer, for code that already uses delegates.
///
/// Start the transfer with ``HTTPClient/start(_:delegate:fileID:line:)``. The transfer holds its delegate until the transfer ends
/// or is cancelled. Like a handler, a delegate is not called after ``HTTPTransfer/cancel()``.
///
/// > Thread safety: the thread of the client's loop only.
public protocol HTTPTransferDelegate: AnyObject {
    /// Called at most once, when the header of the answer is complete.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - response: The header.
    func transfer(_ transfer: HTTPTransfer, didReceive response: HTTPResponse)

    /// Called with each piece of the answer's body.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - bytes: One or more decoded bytes, which are valid until this method returns.
    func transfer(_ transfer: HTTPTransfer, didReceive bytes: RawSpan)

    /// Called when a writer of the request's body may continue.
    ///
    /// - Parameter transfer: The transfer.
    func transferCanWrite(_ transfer: HTTPTransfer)

    /// Called once, after all other calls, when the transfer has ended.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - error: The reason that the answer is not complete; nil if the answer is complete.
    func transfer(_ transfer: HTTPTransfer, didEndWith error: HTTPClientError?)
}

extension HTTPTransferDelegate {
    /// Does nothing, for delegates that do not need the header.
    public func transfer(_ transfer: HTTPTransfer, didReceive response: HTTPResponse) {}

    /// Does nothing, for delegates that write no request body.
    public func transferCanWrite(_ transfer: HTTPTransfer) {}
}

extension HTTPClient {
    /// Starts a transfer that calls a delegate.
    ///
    /// Apart from that, this behaves like ``start(_:fileID:line:configure:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - delegate: The delegate, which the transfer holds until the transfer ends or is cancelled.
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

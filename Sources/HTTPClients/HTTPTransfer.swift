internal import RunLoops

/// A request under way, and its answer.
///
/// ``HTTPClient/start(_:fileID:line:configure:)`` makes a transfer. Set its handlers there. They are called on the thread of the
/// client's loop, while the loop runs in the client's mode, one after the other: first the handler of ``onResponse(_:)``, then that
/// of ``onData(_:)`` for each piece of the body, and finally that of ``onEnd(_:)``.
///
/// A handler may do anything: pause or cancel this transfer or another one, start further ones, invalidate the client, run the
/// loop. While a handler runs, no other handler of the same client is called, even if it runs the loop.
///
/// > Thread safety: the thread of the client's loop only.
@safe
public final class HTTPTransfer {
    /// The request.
    public let request: HTTPRequest

    /// The header of the answer; nil until it is complete.
    public internal(set) var response: HTTPResponse?

    /// The transfers of the client; nil once this one has ended or was cancelled.
    var transferSet: TransferSet?
    /// libcurl's handle; nil before it is made, and once libcurl is done.
    var handle: OpaquePointer?
    /// The place in the client's list of transfers.
    var place = -1
    /// True while the transfer waits in the client's queue of those that have something to deliver.
    var isQueued = false

    var state = TransferState()
    var header = HeaderBlock()
    /// The number of headers of answers that redirected.
    var redirects = 0
    /// The bytes that were not delivered to a handler or a task yet.
    var inbox: [UInt8] = []
    /// True if libcurl holds bytes back until the transfer is resumed.
    var isHeld = false
    var upload: Upload?
    /// The error of a callback that has refused to continue; nil if none has.
    var failure: HTTPClientError?
    var idle = IdleWatch()
    var handlers = Handlers()
    /// The task that reads the answer, instead of handlers.
    weak var reader: BodyReader?
    let origin: SourceLocation

    /// The handlers that the user has set.
    struct Handlers {
        var response: ((HTTPTransfer, HTTPResponse) -> Void)?
        var data: ((HTTPTransfer, RawSpan) -> Void)?
        var drained: ((HTTPTransfer) -> Void)?
        var end: ((HTTPTransfer, HTTPClientError?) -> Void)?
    }

    /// The number of bytes of the answer's body that were received, after decompression.
    public internal(set) var receivedByteCount = 0

    init(_ request: HTTPRequest, _ transferSet: TransferSet, _ origin: SourceLocation) {
        self.request = request
        self.transferSet = transferSet
        self.origin = origin
    }

    // MARK: - Handlers

    /// Sets the handler that is called when the header of the answer is complete.
    ///
    /// Interim answers, and answers that redirect the request, do not count. If the transfer ends before that, the handler is
    /// not called.
    ///
    /// - Parameter handler: Called at most once, with the transfer and the header.
    public func onResponse(_ handler: @escaping (HTTPTransfer, HTTPResponse) -> Void) {
        requireOwnThread("HTTPTransfer.onResponse")
        if transferSet != nil { handlers.response = handler }
    }

    /// Sets the handler of the bytes of the body.
    ///
    /// Without a handler, the body is received and discarded.
    ///
    /// - Parameter handler: Called with the transfer and one or more bytes, decoded, which are valid until it returns.
    public func onData(_ handler: @escaping (HTTPTransfer, RawSpan) -> Void) {
        requireOwnThread("HTTPTransfer.onData")
        if transferSet != nil { handlers.data = handler }
    }

    /// Sets the handler of the end.
    ///
    /// - Parameter handler: Called once, after all others, with the transfer and the reason that the answer is not complete, or
    ///   nil if it is. It is not called after ``cancel()``.
    public func onEnd(_ handler: @escaping (HTTPTransfer, HTTPClientError?) -> Void) {
        requireOwnThread("HTTPTransfer.onEnd")
        if transferSet != nil { handlers.end = handler }
    }

    // MARK: - Flow

    /// True if the delivery of the body and of the end is paused; false at first.
    ///
    /// The transfer continues to receive until 128 KiB are stored. Then it leaves the rest in the connection, so that the server
    /// has to wait. Time still counts for ``HTTPRequest/timeout``, but not as idle time. A paused transfer keeps its mode alive.
    public var isPaused: Bool {
        get { state.isPaused }
        set {
            requireOwnThread("HTTPTransfer.isPaused")
            state.isPaused = newValue
            if !newValue { transferSet?.enqueue(self) }
        }
    }

    /// Ends the transfer at once.
    ///
    /// None of its handlers is called any more, not even that of ``onEnd(_:)``, and all are released. The connection is closed
    /// if the answer was not complete. Cancelling a transfer that has ended does nothing.
    ///
    /// This call never waits, even if the name of the host is being resolved.
    public func cancel() {
        requireOwnThread("HTTPTransfer.cancel")
        transferSet?.cancel(self)
    }

    /// True until the handler of the end is called or the transfer is cancelled.
    public var isActive: Bool { transferSet != nil && !state.isOver }

    /// Ends the program unless the calling thread is the thread of the client's loop.
    func requireOwnThread(_ member: StaticString) {
        transferSet?.loop.requireOwnThread(
            member, "perform a block on the loop of the client and call it there")
    }
}

@available(*, unavailable)
extension HTTPTransfer: Sendable {}

extension HTTPTransfer: CustomStringConvertible {
    /// The request, and the place where the transfer was started.
    public var description: String {
        "\(isActive ? "" : "ended ")transfer of \(request) started at \(origin)"
    }
}

internal import HTTPTypes
public import RunLoops

/// A request under way, and its response.
///
/// ``HTTPClient/start(_:fileID:line:configure:)`` makes a transfer. Set its handlers in the closure that you pass to that method.
/// The handlers are called on the thread of the client's loop, while the loop runs in the client's mode, one after the other: first
/// the handler of ``onResponse(_:)``, then that of ``onData(_:)`` for each piece of the body, and finally that of ``onEnd(_:)``.
///
/// A handler may do anything: pause or cancel this transfer or another one, start further ones, invalidate the client, run the
/// loop. While a handler runs, no other handler of the same client is called, even if the handler runs the loop.
///
/// > Thread safety: ``cancel()`` and ``isOpen`` from any thread. All other members from the thread of the client's loop only.
@safe
public final class HTTPTransfer {
    /// The request that the transfer sends.
    public let request: HTTPClient.Request

    let origin: SourceLocation
    let loop: RunLoop
    package let end = InputEnd()

    /// The storage of ``contents``.
    ///
    /// A transfer changes the contents about thirty times, so the storage has no exclusivity checks; see `ExclusivityUnchecked`. That
    /// type would take a second piece of memory for each transfer.
    #if CHECKS_EXCLUSIVITY
        @unsafe private var storage: Contents
    #else
        @exclusivity(unchecked) private var storage: Contents
    #endif

    /// The values that change during a transfer.
    @safe
    struct Contents {
        /// The set of the client's transfers; nil after the set has removed this transfer.
        var transferSet: TransferSet?
        /// libcurl's handle; nil before the handle is made, and after it was released.
        var handle: OpaquePointer?
        var places = Places()

        var state = TransferState()
        var header: HeaderBlock
        /// The header of the response; nil until it is complete.
        var response: HTTPClient.ResponseHead?
        /// The request that is under way: the user's, or the one that follows a redirect.
        var hop: Hop
        var body: AnswerBody
        /// What the transfer stores now, as the client's account of all transfers has it.
        var stored: StoredInput.Share
        var upload: Upload?
        /// The error that made a callback stop the transfer; nil if no callback has stopped it.
        var failure: HTTPClientError?
        var idle = IdleWatch()
        var handlers = Handlers()
        /// True if a task reads the response; no handlers are set in that case.
        var isReadByTask = false
        /// The one-shot on which a task waits for this transfer; nil while no task waits.
        var wait: OneShot<WakeUp>?

        init(_ request: HTTPClient.Request, _ transferSet: TransferSet) {
            self.transferSet = transferSet
            hop = Hop(request)
            header = HeaderBlock(limit: transferSet.options.headerLimit)
            body = AnswerBody(limit: transferSet.options.bodyLimit)
            stored = StoredInput.Share(transferSet.storedInput)
        }
    }

    /// The lists of the set that a transfer is in.
    struct Places {
        /// The index of this transfer in the set's `active` list; -1 if it is not in the list.
        var active = -1
        /// True while the transfer is in the set's `queue`, which holds the transfers that have something to deliver.
        var isQueued = false
        /// True while the transfer waits in the set's `turns` for its turn to begin or to continue.
        var awaitsTurn = false
    }

    /// The handlers that the user has set.
    struct Handlers {
        var response: ((HTTPTransfer, HTTPClient.ResponseHead) -> Void)?
        var data: ((HTTPTransfer, RawSpan) -> Void)?
        var drained: ((HTTPTransfer) -> Void)?
        var end: ((HTTPTransfer, HTTPClientError?) -> Void)?
    }

    init(_ request: HTTPClient.Request, _ transferSet: TransferSet, _ origin: SourceLocation) {
        self.request = request
        self.origin = origin
        loop = transferSet.loop
        unsafe storage = Contents(request, transferSet)
    }

    var contents: Contents {
        // Safe: only the loop's thread has access, and no two accesses overlap.
        @inline(__always) _read { yield unsafe storage }
        @inline(__always) _modify { yield unsafe &storage }
    }

    /// The header of the response; nil until it is complete.
    public var response: HTTPClient.ResponseHead? { contents.response }

    /// The number of bytes of the response's body that were received.
    ///
    /// Of a compressed body, these are the bytes that were decompressed, which happens right before they are delivered.
    public var receivedByteCount: Int { contents.body.count }

    // MARK: - Handlers

    /// Sets the handler that is called when the header of the response is complete.
    ///
    /// The handler is not called for interim responses, nor for responses that redirect the request, nor if the transfer ends before
    /// the header is complete.
    ///
    /// - Parameter handler: Called at most once, with the transfer and the header.
    public func onResponse(_ handler: @escaping (HTTPTransfer, HTTPClient.ResponseHead) -> Void) {
        requireOwnThread("HTTPTransfer.onResponse")
        if isOpen { contents.handlers.response.replace(with: handler) }
    }

    /// Sets the handler that is called with the bytes of the response's body.
    ///
    /// Without this handler, the body is received and discarded.
    ///
    /// - Parameter handler: Called with the transfer and one or more decoded bytes, which are valid until the handler returns.
    public func onData(_ handler: @escaping (HTTPTransfer, RawSpan) -> Void) {
        requireOwnThread("HTTPTransfer.onData")
        if isOpen { contents.handlers.data.replace(with: handler) }
    }

    /// Sets the handler that is called when the transfer has ended.
    ///
    /// - Parameter handler: Called once, after all other handlers of the transfer, with the transfer and the reason that the response
    ///   is not complete, or nil if the response is complete. After ``cancel()``, the reason is
    ///   ``HTTPClientError/Reason/cancelled``.
    public func onEnd(_ handler: @escaping (HTTPTransfer, HTTPClientError?) -> Void) {
        requireOwnThread("HTTPTransfer.onEnd")
        if contents.transferSet != nil { contents.handlers.end.replace(with: handler) }
    }

    // MARK: - Flow

    /// True if the delivery of the body and of the end is paused; false at first.
    ///
    /// The transfer continues to receive until 128 KiB are stored. Then it leaves the rest in the connection, so that the server
    /// has to wait. The time of the pause counts towards ``HTTPClient/Request/timeout``, but it does not count as idle time. A paused
    /// transfer keeps its mode alive. The end after ``cancel()`` is reported despite a pause.
    public var isReadingPaused: Bool {
        get { contents.state.isPaused }
        set {
            requireOwnThread("HTTPTransfer.isReadingPaused")
            contents.state.isPaused = newValue
            if !newValue { contents.transferSet?.enqueue(self) }
        }
    }

    /// Ends the transfer.
    ///
    /// After this call, no call of a handler begins but the one of ``onEnd(_:)``, with ``HTTPClientError/Reason/cancelled``. The loop
    /// makes it when it next runs in the client's mode, and never during this call. The other handlers are released at once, or on
    /// another thread than the loop's, in the loop's next pass. The connection is closed if the response was not complete. Cancelling
    /// a transfer that has ended does nothing.
    ///
    /// This call never waits, even if the name of the host is being resolved.
    ///
    /// > Thread safety: any thread; see <doc:HTTPOnALoop>.
    public func cancel() { endAnywhere() }

    /// True until the handler of ``onEnd(_:)`` is called or the transfer is cancelled.
    ///
    /// > Thread safety: any thread.
    public var isOpen: Bool { !end.hasEnded }

    /// Ends the program unless the calling thread is the thread of the client's loop.
    ///
    /// Once the client's set of transfers has removed this transfer, the thread is not checked.
    func requireOwnThread(_ member: StaticString) {
        if contents.transferSet == nil { return }
        loop.requireOwnThread(member, "perform a block on the loop of the client and call it there")
    }
}

@available(*, unavailable)
extension HTTPTransfer: Sendable {}

extension HTTPTransfer: EndedAnywhere {
    package func giveBack(inForkedChild isChild: Bool) {
        if isChild {
            // The connection is shared with the parent, and libcurl would say goodbye to the server.
            return withExtendedLifetime(exchange(&contents.handlers, with: Handlers())) {}
        }
        contents.transferSet?.cancel(self)
    }
}

extension HTTPTransfer: HashableByIdentity {}

extension HTTPTransfer: CustomStringConvertible {
    /// A description: the request, and the source location at which the transfer was started.
    public var description: String {
        "\(isOpen ? "" : "ended ")transfer of \(request) started at \(origin)"
    }
}

internal import CTransfers
internal import DequeModule
internal import Glibc
internal import RunLoops

/// The transfers of one client: libcurl's multi handle, and the source that serves it.
///
/// A callback of libcurl must not run transfers, and does not call user code. It only records events, copies data, and queues each
/// transfer that has something to deliver. The handlers of the queued transfers are called when libcurl has returned.
///
/// Until the source is invalidated, the loop holds the source, and the source holds this object.
///
/// > Thread safety: the loop's own thread only, but for the end.
@safe
final class TransferSet {
    let loop: RunLoop
    let mode: RunLoop.Mode
    let options: HTTPClient.Options
    let settings: ClientSettings
    let origin: SourceLocation
    let storedInput: StoredInput
    let end = InputEnd()

    /// The storage of ``contents``.
    ///
    /// It has no exclusivity checks, because each transfer reads and changes the contents often; see `ExclusivityUnchecked`.
    private let storage = ExclusivityUnchecked(Contents())

    /// The mutable state of the set.
    @safe
    struct Contents {
        /// The source through which the loop serves the transfers; nil once it is invalid.
        var source: LibrarySource?
        /// libcurl's multi handle; nil once the client is invalid.
        var multi: OpaquePointer?
        /// The transfers that have not ended or whose end is not delivered yet, in no particular order.
        var active: [HTTPTransfer] = []
        /// The transfers that have something to deliver to their handlers or tasks, first in, first out.
        var queue = Deque<HTTPTransfer>()
        /// The transfers that wait for their turn to begin or to continue in libcurl, first in, first out.
        var turns = Deque<HTTPTransfer>()
        /// The units of work that are left in this pass of the loop; at 0 or less, transfers wait for their turn.
        var workLeft = TransferSet.workOfPass
        /// The transfers that wait for more bytes of their request bodies; the key is the descriptor that the body is read from.
        var waitingUploads: [CInt: HTTPTransfer] = [:]
        /// The instant at which libcurl wants to be called; nil for none.
        var libraryDeadline: ContinuousClock.Instant?
        /// The instant of the next check for idle transfers; nil while `active` is empty.
        var idleDeadline: ContinuousClock.Instant?
        /// True during `serve()`.
        ///
        /// Meanwhile no other method updates the deadline or ends this object, because `serve()` does both before it returns.
        var isServing = false
        /// True while a handler runs; meanwhile no other handler of this client is called.
        var isDelivering = false
        /// True if the user's `HTTPClient` was released, so that the set ends when its last transfer ends.
        var isAbandoned = false
    }

    var contents: Contents {
        @inline(__always) _read { yield storage.value }
        @inline(__always) _modify { yield &storage.value }
    }

    init(
        _ loop: RunLoop, _ mode: RunLoop.Mode, _ options: HTTPClient.Options, _ origin: SourceLocation
    ) throws(SystemError) {
        self.loop = loop
        self.mode = mode
        self.options = options
        settings = ClientSettings(options)
        storedInput = StoredInput(limit: options.inputLimit)
        self.origin = origin
        guard CurlLibrary.isReady else { throw SystemError(call: "curl_global_init", code: ENOMEM) }
        let source = try LibrarySource(
            fileID: origin.fileID, line: Int(origin.line), onInvalidation: { [self] in endTransfers() }
        ) { [self] _ in serve() }
        source.keepsModesAlive = false
        // Safe: the callbacks are not called after `endTransfers`, and until then the source holds this object.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe contents.multi = runloops_transfers_new(
            options.connectionLimitPerHost, options.connectionLimit ?? 0,
            { descriptor, reads, writes, context in
                unsafe withOwner(context) { $0.watch(descriptor, reads: reads, writes: writes) }
            },
            { milliseconds, context in unsafe withOwner(context) { $0.setAlarm(milliseconds) } }, context)
        if unsafe contents.multi == nil {
            source.invalidate()
            throw SystemError(call: "curl_multi_init", code: ENOMEM)
        }
        do { try loop.add(source, forMode: mode) } catch {
            source.invalidate()
            throw error
        }
        contents.source = source
        _ = end.join(loop)
    }

    /// True until the set has given back what it holds; false at once after an end on another thread.
    ///
    /// That end takes effect here, if it has not yet.
    var isValid: Bool {
        if end.hasEnded { endHere() }
        return unsafe contents.multi != nil
    }

    // MARK: - Requests of libcurl

    /// Watches a descriptor for the readiness that libcurl asks for.
    private func watch(_ descriptor: CInt, reads: Bool, writes: Bool) {
        var interest: DescriptorSource.Interest = []
        if reads { interest.insert(.read) }
        if writes { interest.insert(.write) }
        contents.source?.setInterest(interest, of: descriptor)
    }

    /// Stores the instant at which libcurl wants to be called next.
    ///
    /// libcurl calls this function, so the function must not call libcurl.
    private func setAlarm(_ milliseconds: Int) {
        contents.libraryDeadline =
            milliseconds < 0 ? nil : milliseconds == 0 ? .distantPast : .now + .milliseconds(milliseconds)
        updateDeadline()
    }

    /// Sets the deadline at which the loop calls `serve()` even if no descriptor is ready.
    ///
    /// If a transfer is queued or waits for its turn, the loop calls `serve()` immediately. Otherwise, it calls `serve()` at
    /// ``Contents/libraryDeadline`` or ``Contents/idleDeadline``, whichever is earlier.
    func updateDeadline() {
        if contents.isServing { return }
        if !contents.queue.isEmpty || !contents.turns.isEmpty {
            contents.source?.deadline = .distantPast
        } else if let library = contents.libraryDeadline, let idle = contents.idleDeadline {
            contents.source?.deadline = min(library, idle)
        } else {
            contents.source?.deadline = contents.libraryDeadline ?? contents.idleDeadline
        }
    }

    // MARK: - Transfers

    func add(_ transfer: HTTPTransfer) {
        if contents.active.isEmpty {
            contents.source?.keepsModesAlive = true
            contents.idleDeadline = options.idleTimeout.map { .now + IdleWatch.interval(of: $0) }
        }
        transfer.contents.places.active = contents.active.count
        contents.active.append(transfer)
    }

    /// Removes a transfer whose handlers will not be called again, and releases these handlers.
    func remove(_ transfer: HTTPTransfer) {
        guard transfer.contents.transferSet === self else { return }
        _ = transfer.end.beginGivingBack()
        transfer.contents.transferSet = nil
        transfer.contents.upload = nil
        // A task takes the rest later.
        if !transfer.contents.isReadByTask { transfer.contents.body.discard() }
        transfer.recount()
        storedInput.resumeWaiting()
        var handlers = HTTPTransfer.Handlers()
        swap(&handlers, &transfer.contents.handlers)
        if transfer.contents.places.active >= 0 {
            let last = contents.active.removeLast()
            if last !== transfer {
                contents.active[transfer.contents.places.active] = last
                last.contents.places.active = transfer.contents.places.active
            }
            transfer.contents.places.active = -1
        }
        if contents.active.isEmpty {
            contents.source?.keepsModesAlive = false
            contents.idleDeadline = nil
            if contents.isAbandoned { closeLater() }
        }
        // The handlers are released last: destroying an object that a handler holds can call the client.
        withExtendedLifetime(handlers) {}
    }

    /// Adds a transfer to the queue of the transfers that have something to deliver, unless it is there already.
    func enqueue(_ transfer: HTTPTransfer) {
        if transfer.contents.places.isQueued { return }
        transfer.contents.places.isQueued = true
        contents.queue.append(transfer)
        updateDeadline()
    }

    // MARK: - The end

    /// Records that the user's `HTTPClient` was released, so that the set ends when its last transfer ends.
    func clientIsGone() {
        contents.isAbandoned = true
        if contents.active.isEmpty { closeLater() }
    }

    /// Ends the set now or, if called during `serve()`, at the end of `serve()`.
    private func closeLater() { if !contents.isServing { close() } }

    /// Ends the set if the user's `HTTPClient` was released and the last transfer has ended.
    func closeIfAbandoned() { if contents.isAbandoned && contents.active.isEmpty { close() } }

    private func close() { endHere() }

    /// Ends all transfers, and frees libcurl's memory.
    ///
    /// The source calls this when it is invalidated.
    private func endTransfers() {
        _ = end.beginGivingBack()
        guard let ended = unsafe contents.multi else { return }
        for transfer in contents.active {
            // The user may have cancelled it on another thread.
            if transfer.end.hasEnded { transfer.endHere() }
            finish(transfer, .clientInvalidated)
            transfer.contents.state.cut(.clientInvalidated)
            enqueue(transfer)
        }
        unsafe contents.multi = nil
        contents.source = nil
        contents.turns = []
        unsafe runloops_transfers_free(ended)
        deliverAll()
    }
}

extension TransferSet: EndedAnywhere {
    func giveBack(inForkedChild isChild: Bool) {
        // In a child, the source only releases memory, and does not report its end. So libcurl does not end the connections, which
        // are shared with the parent.
        contents.source?.invalidate()
    }
}

/// Calls a closure with the set that libcurl passes as the context, without changing the reference count of the set.
private func withOwner(_ context: UnsafeMutableRawPointer?, _ body: (TransferSet) -> Void) {
    // Safe: the callers are libcurl's callbacks, whose context is the set; see `TransferSet.init`.
    unsafe Unmanaged<TransferSet>.fromOpaque(context!)._withUnsafeGuaranteedRef(body)
}

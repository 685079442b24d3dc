internal import CTransfers
internal import DequeModule
internal import Glibc
internal import RunLoops

/// The transfers of one client: libcurl's multi handle, and the source that serves it.
///
/// libcurl's callbacks only record and copy: they must not run transfers, and do not call code of the user. Transfers with
/// something to deliver are queued, and their handlers are called when libcurl has returned.
///
/// The loop holds the source, which holds this object, until the source is invalidated.
///
/// > Thread safety: the loop's own thread only.
@safe
final class TransferSet {
    let loop: RunLoop
    let options: HTTPClient.Options
    let origin: SourceLocation

    /// The source; nil once it is invalid.
    private(set) var source: LibrarySource?
    /// libcurl's multi handle; nil once the client is invalid.
    private(set) var multi: OpaquePointer?
    /// The transfers that have not ended, in no particular order.
    private(set) var active: [HTTPTransfer] = []
    /// The transfers that have something to deliver, in order.
    var queue = Deque<HTTPTransfer>()
    /// The transfers that wait for their turn to begin or to continue, in order.
    var turns = Deque<HTTPTransfer>()
    /// The work that transfers may still cause in this pass.
    var workLeft = TransferSet.workOfPass
    /// Handles that may be used again.
    var spareHandles: [OpaquePointer] = unsafe []
    /// The transfers that wait for bytes of their bodies, by the descriptors that the bodies are read from.
    var waitingUploads: [CInt: HTTPTransfer] = [:]
    /// The instant at which libcurl wants to be called; nil for none.
    var libraryDeadline: ContinuousClock.Instant?
    /// The instant of the next check for idle transfers; nil if there are no transfers.
    var idleDeadline: ContinuousClock.Instant?
    /// True during `serve()`, which checks the queue and sets the deadline at its end.
    var isServing = false
    /// True while handlers are called.
    var isDelivering = false
    /// True if the user's client was released: the set ends with its last transfer.
    private var isAbandoned = false

    init(
        _ loop: RunLoop, _ mode: RunLoop.Mode, _ options: HTTPClient.Options, _ origin: SourceLocation
    ) throws(SystemError) {
        self.loop = loop
        self.options = options
        self.origin = origin
        guard CurlLibrary.isReady else { throw SystemError(call: "curl_global_init", code: ENOMEM) }
        let source = try LibrarySource(onInvalidation: { [self] in end() }) { [self] _ in serve() }
        source.keepsModesAlive = false
        // Safe: the callbacks are not called after `end`, and until then the source holds this object.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe multi = runloops_transfers_new(
            options.connectionsPerHost, options.connections ?? 0,
            { descriptor, reads, writes, context in
                unsafe ownerOf(context).watch(descriptor, reads: reads, writes: writes)
            },
            { milliseconds, context in unsafe ownerOf(context).setAlarm(milliseconds) }, context)
        if unsafe multi == nil {
            source.invalidate()
            throw SystemError(call: "curl_multi_init", code: ENOMEM)
        }
        do { try loop.add(source, forMode: mode) } catch {
            source.invalidate()
            throw error
        }
        self.source = source
    }

    var isValid: Bool { unsafe multi != nil }

    // MARK: - Requests of libcurl

    /// Watches a descriptor for the readiness that libcurl asks for.
    private func watch(_ descriptor: CInt, reads: Bool, writes: Bool) {
        var interest: DescriptorSource.Interest = []
        if reads { interest.insert(.read) }
        if writes { interest.insert(.write) }
        source?.setInterest(interest, of: descriptor)
    }

    /// Stores libcurl's deadline.
    ///
    /// libcurl calls this, so it must not call libcurl.
    private func setAlarm(_ milliseconds: Int) {
        libraryDeadline =
            milliseconds < 0 ? nil : milliseconds == 0 ? .distantPast : .now + .milliseconds(milliseconds)
        updateDeadline()
    }

    /// Sets the source's deadline to the earlier one of libcurl's and that of the idle check.
    func updateDeadline() {
        if isServing { return }
        if !queue.isEmpty || !turns.isEmpty {
            source?.deadline = .distantPast
        } else if let library = libraryDeadline, let idle = idleDeadline {
            source?.deadline = min(library, idle)
        } else {
            source?.deadline = libraryDeadline ?? idleDeadline
        }
    }

    // MARK: - Transfers

    func add(_ transfer: HTTPTransfer) {
        if active.isEmpty {
            source?.keepsModesAlive = true
            idleDeadline = .now + IdleWatch.interval(of: options.idleTimeout)
        }
        transfer.place = active.count
        active.append(transfer)
    }

    /// Removes a transfer that calls no more handlers, and releases its handlers.
    func remove(_ transfer: HTTPTransfer) {
        guard transfer.transferSet === self else { return }
        transfer.transferSet = nil
        transfer.upload = nil
        let handlers = transfer.handlers
        transfer.handlers = .init()
        if transfer.place >= 0 {
            let last = active.removeLast()
            if last !== transfer {
                active[transfer.place] = last
                last.place = transfer.place
            }
            transfer.place = -1
        }
        if active.isEmpty {
            source?.keepsModesAlive = false
            idleDeadline = nil
            if isAbandoned { closeLater() }
        }
        // The handlers are released last: the destruction of an object that they hold may call the client.
        withExtendedLifetime(handlers) {}
    }

    /// Adds a transfer to the queue of the transfers that have something to deliver, unless it is there already.
    func enqueue(_ transfer: HTTPTransfer) {
        if transfer.isQueued { return }
        transfer.isQueued = true
        queue.append(transfer)
        updateDeadline()
    }

    // MARK: - The end

    /// Makes the set end with its last transfer, because the client was released.
    func clientIsGone() {
        isAbandoned = true
        if active.isEmpty { closeLater() }
    }

    /// Ends the set now or, if called during `serve()`, at the end of `serve()`.
    private func closeLater() { if !isServing { close() } }

    /// Ends the set if the user's client was released and the last transfer has ended.
    func closeIfAbandoned() { if isAbandoned && active.isEmpty { close() } }

    func close() { source?.invalidate() }

    /// Ends all transfers, and frees libcurl's memory.
    ///
    /// The source calls this when it is invalidated.
    private func end() {
        guard let ended = unsafe multi else { return }
        for transfer in active {
            finish(transfer, .clientInvalidated)
            enqueue(transfer)
        }
        unsafe multi = nil
        source = nil
        turns = []
        while let handle = unsafe spareHandles.popLast() { unsafe runloops_transfer_free(handle) }
        unsafe runloops_transfers_free(ended)
        deliverAll()
    }
}

/// The set that libcurl passes as a context.
private func ownerOf(_ context: UnsafeMutableRawPointer?) -> TransferSet {
    // Safe: the callers are libcurl's callbacks, whose context is the set; see `TransferSet.init`.
    unsafe Unmanaged<TransferSet>.fromOpaque(context!).takeUnretainedValue()
}

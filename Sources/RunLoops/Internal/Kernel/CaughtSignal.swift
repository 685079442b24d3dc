internal import CRunLoops

/// A signal that a source has taken over, and the descriptors from which the source reads the arrivals of the signal.
///
/// A signal reaches the source in one of two ways. If any thread accepts the signal, the signal handler runs on that thread, and
/// writes the signal to a pipe. If all threads block the signal, no signal handler runs, and the kernel keeps the signal until a
/// signalfd reads it. So the signal is not lost, whichever threads block it. The source changes neither the signal mask of a
/// thread nor the mask that other programs inherit.
///
/// `@safe`: the descriptors belong to this value from `init` to `deinit`.
@safe
struct CaughtSignal: ~Copyable {
    private let number: CInt
    private let descriptors: runloops_signal_descriptors

    /// The signals that have a source, and the place in the code where each source was made.
    private static let owners = ForkSafe<[CInt: SourceLocation]>([:])

    /// Takes over a signal.
    ///
    /// - Parameters:
    ///   - number: The number of the signal.
    ///   - origin: The place where the source is made.
    /// - Throws: `SignalSourceError` if the signal cannot be taken over; the call then changes nothing.
    init(_ number: CInt, for origin: SourceLocation) throws(SignalSourceError) {
        let owner = CaughtSignal.owners.withLock { owners in
            if let owner = owners[number] { return owner as SourceLocation? }
            owners[number] = origin
            return nil
        }
        if let owner { throw SignalSourceError(.taken, signal: number, ownerPlace: owner.description) }
        // If the thread were cancelled from here on, the signal would stay taken until the process ends.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        let opened: runloops_signal_descriptors
        do {
            opened = try CaughtSignal.open(number)
        } catch {
            CaughtSignal.giveUp(number)
            throw SignalSourceError(.refused, signal: number, systemError: error)
        }
        let code = runloops_signal_start(number, opened.writing_end)
        if code != 0 {
            CaughtSignal.close(opened)
            CaughtSignal.giveUp(number)
            if code == RUNLOOPS_SIGNAL_HANDLED_ELSEWHERE {
                throw SignalSourceError(.handledElsewhere, signal: number)
            }
            throw SignalSourceError(
                .refused, signal: number, systemError: SystemError(call: "sigaction", code: code))
        }
        self.number = number
        descriptors = opened
    }

    deinit {
        // If the thread were cancelled in this function, the signal would stay taken until the process ends.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        // The order matters: a signal handler must not write to a descriptor number that already belongs to another file, and a new
        // owner must not start before the old owner has ended.
        runloops_signal_stop(number)
        CaughtSignal.close(descriptors)
        CaughtSignal.giveUp(number)
    }

    /// The descriptor that a loop watches: readable while a signal waits.
    var descriptor: CInt { descriptors.ready }

    /// Removes and returns the next arrival of the signal.
    ///
    /// - Returns: The arrival; nil if no signal waits.
    func next() -> SignalSource.Arrival? {
        var signal = runloops_signal()
        var descriptors = descriptors
        // Safe: both are our own values. The function fills `signal`, and only reads `descriptors`.
        let count = unsafe runloops_signal_next(number, &descriptors, &signal)
        if count == 0 { return nil }
        let sender = SignalSource.Arrival.Sender(processID: signal.process, userID: signal.user)
        return SignalSource.Arrival(
            signal: number, sender: signal.has_sender != 0 ? sender : nil, count: Int(count))
    }

    private static func open(_ number: CInt) throws(SystemError) -> runloops_signal_descriptors {
        var opened = runloops_signal_descriptors()
        var call: UnsafePointer<CChar>?
        // Safe: both are our own values, which the function fills. The name is a constant of the function.
        let code = unsafe runloops_signal_open(number, &opened, &call)
        if code == 0 { return opened }
        throw SystemError(call: unsafe call.map { unsafe String(cString: $0) } ?? "", code: code)
    }

    private static func close(_ descriptors: runloops_signal_descriptors) {
        var descriptors = descriptors
        // Safe: the function only reads our own value.
        unsafe runloops_signal_close(&descriptors)
    }

    private static func giveUp(_ number: CInt) {
        _ = owners.withLock { $0.removeValue(forKey: number) }
    }
}

/// Calls a handler on its loop's thread when the process has received a POSIX signal.
///
/// A source owns its signal from its creation until it is invalidated or destroyed. During that time the signal has no other
/// effect, no matter which threads block it and when they were started. Signals that arrive while no loop serves the source are
/// stored.
///
/// ```swift
/// let terminate = try SignalSource(SIGTERM) { source, arrival in
///     print("asked to end by process", arrival.sender?.processID ?? 0)
///     RunLoop.current.stop()
/// }
/// try RunLoop.current.add(terminate, forMode: .common)
/// ```
///
/// A process has at most one source for each signal. The handler is called once for each signal that the process gets. The kernel
/// queues a real-time signal each time that it is sent, but does not queue an ordinary signal that is already pending. So if an
/// ordinary signal is sent several times in quick succession, the process can get fewer signals than were sent. If the handler runs
/// the loop, that inner run does not call the handler again.
///
/// When the source ends, the signal has its previous effect again. <doc:SignalsAndChildren> describes the effect of a source on
/// other code and on programs that you start.
///
/// > Thread safety: ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>). All other members from one thread; after the
/// > source is added, from the thread of its loop.
public final class SignalSource {
    /// The signal's number.
    public let signal: CInt

    /// True until the source is invalidated.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }
    package let end = InputEnd()

    /// The descriptor source that represents this source in a loop.
    var watch: DescriptorSource?
    fileprivate var caught: CaughtSignal?
    fileprivate var handler: ((SignalSource, Arrival) -> Void)?
    let origin: SourceLocation

    /// Makes a source that is in no loop yet, and takes over the signal.
    ///
    /// For some signals, the call ends the program with a message: `SIGKILL` and `SIGSTOP`, which no process can receive; signals
    /// that report a fault of the thread, such as `SIGSEGV`; and `SIGCHLD`, for which there is ``ProcessSource``.
    ///
    /// - Parameters:
    ///   - signal: The signal's number.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the signal that has arrived.
    /// - Throws: ``SignalSourceError`` if another source or other code owns the signal, or if the kernel refuses. In
    ///   that case, the signal's effect is unchanged.
    public init(
        _ signal: CInt, fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (SignalSource, Arrival) -> Void
    ) throws(SignalSourceError) {
        if let refusal = SignalNumber(signal).refusal { misuse("SignalSource.init: \(refusal)") }
        self.signal = signal
        origin = SourceLocation(fileID, line)
        caught = try CaughtSignal(signal, for: origin)
        self.handler = handler
    }

    /// Removes the source from its loop for good, releases the signal, and releases the handler.
    ///
    /// The handler does not start afterwards. Signals that have arrived and were not served are discarded. If the signal has just
    /// interrupted other threads, the calling thread sleeps until those threads have recorded the signal. This takes some
    /// microseconds, or longer if those threads have no processor. A second call does nothing.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }

    /// Calls the handler with one signal.
    ///
    /// The loop calls this again for the next signal.
    ///
    /// - Returns: False if no signal is recorded. This happens if a thread has accepted the pending signal after the loop polled
    ///   the descriptor, but has not recorded the signal yet. The descriptor becomes ready again when the thread has recorded the
    ///   signal.
    private func serve() -> Bool {
        guard isAdmitted, let handler, let arrival = caught?.next() else { return false }
        handler(self, arrival)
        return true
    }
}

extension SignalSource: DescriptorBacked {
    package func giveBack(inForkedChild isChild: Bool) {
        let (left, released) = (watch, handler)
        watch = nil
        handler = nil
        if !isChild { left?.invalidate() }
        caught = nil
        // The handler is released last, when all state is consistent: an object that the handler holds can call the source when the
        // object is destroyed.
        withExtendedLifetime(released) {}
    }

    func makeWatch() -> DescriptorSource {
        guard let descriptor = caught?.descriptor else {
            preconditionFailure("a valid source has its signal")
        }
        return DescriptorSource(descriptor, interest: .read, origin: origin) { [self] _, _ in serve() }
    }
}

@available(*, unavailable)
extension SignalSource: Sendable {}

extension SignalSource: CustomStringConvertible {
    /// The signal, and the place where the source was made.
    public var description: String { "source of \(SignalNumber(signal)) made at \(origin)" }
}

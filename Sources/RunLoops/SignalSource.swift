/// Calls a handler on its loop's thread when the process has received a POSIX signal.
///
/// A source owns its signal from the moment it is made until it is invalidated or destroyed: During that time the signal has no
/// other effect, whichever threads block it or were started before. Signals that come while no loop serves the source are kept.
///
/// ```swift
/// let terminate = try SignalSource(SIGTERM) { source, arrival in
///     print("asked to end by process", arrival.sender?.processID ?? 0)
///     RunLoop.current.stop()
/// }
/// try RunLoop.current.add(terminate, forMode: .common)
/// ```
///
/// A process has at most one source for each signal. The handler is called once for each signal that the process gets. But the
/// kernel queues an ordinary signal only once, and only real-time signals several times. So if an ordinary signal is sent
/// several times at once, the process may get it fewer times. While a handler runs, a run inside it does not call it again.
///
/// When the source ends, the signal does again what it did before. <doc:SignalsAndChildren> describes its effect on other code
/// and on programs that you start.
///
/// > Thread safety: one thread; once it is added, the thread of its loop.
public final class SignalSource {
    /// The signal's number.
    public let signal: CInt

    /// True until the source is invalidated.
    public private(set) var isValid = true

    /// The descriptor source that represents this source in a loop.
    var watch: DescriptorSource?
    private var caught: CaughtSignal?
    private var handler: ((SignalSource, Arrival) -> Void)?
    let origin: SourceLocation

    /// Makes a source that is in no loop yet, and takes the signal.
    ///
    /// Some signals end the program with a message: `SIGKILL` and `SIGSTOP`, which no process can receive; signals that report
    /// a fault of the thread; and `SIGCHLD`, for which there is ``ProcessSource``.
    ///
    /// - Parameters:
    ///   - signal: The signal's number.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the signal that has come.
    /// - Throws: ``SignalSourceError``: another source or other code owns the signal, or the kernel refuses. Nothing has
    ///   changed then.
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

    /// Removes the source from its loop for good, gives the signal back, and releases the handler.
    ///
    /// The handler does not start any more. Signals that have come and have not been served are forgotten. If the signal has just
    /// interrupted other threads, the calling thread sleeps until they have recorded it, some microseconds unless they have no
    /// processor. A second call does nothing.
    public func invalidate() {
        _ = watch?.membership.loop?.requireCurrent("SignalSource.invalidate")
        isValid = false
        let ended = watch
        watch = nil
        ended?.invalidate()
        caught = nil
        let released = handler
        handler = nil
        // Released last, when all state is consistent, because destroying an object that the handler holds can call back.
        withExtendedLifetime(released) {}
    }

    /// Calls the handler with one signal; the loop calls this again for the next one.
    ///
    /// - Returns: False if there is none: a thread has accepted it since the loop saw that it waits, and has not yet recorded
    ///   it. When it has, the descriptor becomes ready again.
    private func serve() -> Bool {
        guard let handler, let arrival = caught?.next() else { return false }
        handler(self, arrival)
        return true
    }
}

extension SignalSource: DescriptorBacked {
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

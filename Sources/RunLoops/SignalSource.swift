/// Calls a handler on its loop's thread when the process has got a POSIX signal.
///
/// From being made until it is invalidated or goes, a source has its signal: nothing else happens when it comes, and it does
/// not matter which threads block it, or were started before. What comes while no loop serves the source is kept.
///
/// ```swift
/// let terminate = try SignalSource(SIGTERM) { source, arrival in
///     print("asked to end by process", arrival.sender?.processID ?? 0)
///     RunLoop.current.stop()
/// }
/// try RunLoop.current.add(terminate, forMode: .common)
/// ```
///
/// A process has one source for each signal. The handler is called once for each signal that the process gets; but the
/// kernel keeps a signal that waits only once, unless it is a real-time one, so a process that is sent one several times at
/// once may get fewer. While a handler runs, a run inside it does not call it again.
///
/// When the source ends, the signal does again what it did before. <doc:SignalsAndChildren> tells what other code, forked
/// children and other programs see of it.
///
/// > Thread safety: one thread: once it is added, its loop's.
public final class SignalSource {
    /// The signal's number.
    public let signal: CInt

    /// False once it was invalidated, for good.
    public private(set) var isValid = true

    /// In a loop for it.
    var watch: DescriptorSource?
    private var caught: CaughtSignal?
    private var handler: ((SignalSource, Arrival) -> Void)?
    let origin: SourceLocation

    /// Makes a source, which is in no loop yet but has the signal.
    ///
    /// `SIGKILL` and `SIGSTOP`, which nobody gets, signals that tell of a fault of the thread, and `SIGCHLD`, for which there
    /// is ``ProcessSource``, end the program with a message.
    ///
    /// - Parameters:
    ///   - signal: The signal's number.
    ///   - fileID: Where it was made, for diagnostics.
    ///   - line: Where it was made, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the signal that has come.
    /// - Throws: ``SignalSourceError``: another source or other code has the signal, or the kernel refuses. Nothing has
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

    /// Takes the source out of its loop for good, gives the signal back, and releases the handler.
    ///
    /// The handler does not start any more. Signals that have come and have not been served are forgotten. If the signal has
    /// just interrupted other threads, the calling thread sleeps until they have written it down, some microseconds unless they
    /// have no processor. A second call does nothing.
    public func invalidate() {
        _ = watch?.membership.loop?.requireCurrent("SignalSource.invalidate")
        isValid = false
        let ended = watch
        watch = nil
        ended?.invalidate()
        caught = nil
        let released = handler
        handler = nil
        // What the handler holds may be the user's, and may come back here while it is destroyed: when all is in order.
        withExtendedLifetime(released) {}
    }

    /// Hands out one signal; the loop comes again for the next one.
    ///
    /// - Returns: False if there is none: a thread has accepted it since the loop saw that it waits, and has not yet written it
    ///   down. Then the loop is told again.
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
    /// Which signal it is the source of, and where it was made.
    public var description: String { "source of \(SignalNumber(signal)) made at \(origin)" }
}

internal import Glibc

/// Ends a program gracefully after a signal: the program first finishes the work that is under way, within a time.
///
/// The first `SIGTERM` or `SIGINT` begins the stop, and your handler is called once. In the handler, make your program stop
/// accepting work. Call ``finish()`` when all work is done, in the handler or later. ``finish()`` stops the run of the loop, so
/// that the main function returns:
///
/// ```swift
/// let stop = try GracefulStop(within: .seconds(30)) { stop in
///     server.close { stop.finish() }
/// }
/// try RunLoop.current.add(stop, forMode: .common)
/// RunLoop.current.run()
/// ```
///
/// If a second signal arrives before ``finish()``, or the time is over, the program ends at once: see ``onForcedEnd(_:)``. An
/// operator who presses Ctrl-C twice does not wait for the work.
///
/// Like a ``SignalSource``, a `GracefulStop` owns its signals until it is finished, invalidated or destroyed. After that, the
/// signals have their previous effect again: they end the program, unless other code has changed their effect.
///
/// All handlers are called on the loop's thread. So while a handler of the loop blocks, neither the second signal nor the end of the time
/// ends the program.
///
/// > Thread safety: ``finish()``, ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>). All other members from one thread;
/// > after the object is added to a loop, from the thread of the loop.
public final class GracefulStop {
    /// The signals that begin a stop by default: `SIGTERM` and `SIGINT`.
    public static let defaultSignals: [CInt] = [SIGTERM, SIGINT]

    /// True after the stop has begun.
    public private(set) var isStopping = false

    /// True until ``finish()`` or ``invalidate()`` is called.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }
    package let end = InputEnd()

    private var forcedEndHandler: ((GracefulStop, ForcedEnd) -> Void)?
    private var handler: ((GracefulStop) -> Void)?
    /// The time from the beginning of the stop to its forced end.
    private let limit: Duration
    private let origin: SourceLocation

    /// The sources of the signals.
    let sources: [SignalSource]
    /// The timer that fires at the deadline; until the stop begins, its date is the distant future.
    let timer: Timer
    /// The link through which the handlers of the signal sources reach the `GracefulStop`.
    ///
    /// While the `GracefulStop` is in a loop, the link holds the `GracefulStop`. Only the handlers hold the link. The loop holds
    /// the sources, which release their handlers when the loop ends.
    weak var link: Link?

    final class Link {
        weak var stop: GracefulStop?
        /// A strong reference to the `GracefulStop` while it is in a loop; nil otherwise.
        var held: GracefulStop?
    }

    /// Makes a `GracefulStop`, which takes over the signals at once.
    ///
    /// The object is in no loop yet.
    ///
    /// - Parameters:
    ///   - signals: The signals that begin the stop; at least one signal.
    ///   - limit: The time from the beginning of the stop to its forced end.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - begin: Called once on the loop's thread, with the `GracefulStop`, when the first signal has arrived.
    /// - Throws: ``SignalSourceError`` if another source or other code owns one of the signals, or if the kernel refuses. No signal
    ///   is taken over then.
    public init(
        signals: [CInt] = GracefulStop.defaultSignals, within limit: Duration, fileID: StaticString = #fileID,
        line: Int = #line, begin: @escaping (GracefulStop) -> Void
    ) throws(SignalSourceError) {
        if signals.isEmpty {
            misuse("GracefulStop.init: no signal would begin the stop; name at least one")
        }
        self.limit = limit
        origin = SourceLocation(fileID, line)
        handler = begin
        forcedEndHandler = { _, end in _exit(end.exitStatus) }
        let link = Link()
        var made: [SignalSource] = []
        for signal in signals {
            made.append(
                try SignalSource(signal, fileID: fileID, line: line) { [link] _, arrival in
                    link.stop?.take(arrival)
                })
        }
        sources = made
        timer = Timer(
            fireAt: .distantFuture, interval: .zero, repeats: false, fileID: fileID, line: line
        ) { [weak link] _ in link?.stop?.forceEnd(.timedOut) }
        link.stop = self
        self.link = link
    }

    /// Begins the stop without a signal.
    ///
    /// Use this method if your program can also be stopped without a signal. If the stop has begun already, or this object is
    /// invalid, the call does nothing.
    public func begin() {
        requireCurrent("GracefulStop.begin")
        guard isValid, !isStopping else { return }
        isStopping = true
        timer.fireDate = Moment.now().advanced(by: limit.nanosecondsRoundedUp).instant
        handler.take()?(self)
    }

    /// Sets the handler that is called if the stop takes too long, instead of ending the program.
    ///
    /// The handler is called when the time is over, and for each signal after the first. It is not called any more after
    /// ``finish()`` or ``invalidate()``.
    ///
    /// Without a handler, the process ends at once with ``ForcedEnd/exitStatus``, without running the functions that were
    /// registered with `atexit`. If your handler returns, the program continues, and can still call ``finish()``. Once this object
    /// is invalid, the call does nothing.
    ///
    /// - Parameter handler: Called on the loop's thread with this object and the reason.
    public func onForcedEnd(_ handler: @escaping (GracefulStop, ForcedEnd) -> Void) {
        requireCurrent("GracefulStop.onForcedEnd")
        if isValid { forcedEndHandler.replace(with: handler) }
    }

    /// Releases the signals, and stops the run of the loop; call this when all work is done.
    ///
    /// The innermost run ends after the pass that is under way. You can also call this before the stop has begun. If this object is
    /// invalid, the call does nothing.
    ///
    /// On another thread than the loop's, no handler of this object starts after the call has returned, and the loop stops its run in
    /// its next pass.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func finish() {
        guard isValid else { return }
        // The stop of the run is handed over before the end, so that this object is still in the loop then.
        if !Fork.isChild, !end.handOver({ [self] in stopRun() }) { stopRun() }
        invalidate()
    }

    /// Stops the run of the calling thread's loop, if this object is in the loop.
    private func stopRun() {
        if sources.first?.watch?.membership.loop != nil { RunLoop.existing?.stop() }
    }

    /// Removes this object from its loop for good, and releases the signals and the handlers.
    ///
    /// After this call, no handler of this object starts. A second call does nothing.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }

    private func take(_ arrival: SignalSource.Arrival) {
        if !isStopping {
            begin()
            if arrival.count == 1 { return }
        }
        forceEnd(.signal(arrival.signal))
    }

    private func forceEnd(_ end: ForcedEnd) {
        if isValid { forcedEndHandler?(self, end) }
    }

    private func requireCurrent(_ member: StaticString) {
        _ = sources.first?.watch?.membership.loop?.requireCurrent(member)
    }
}

extension GracefulStop: EndedAnywhere {
    package func giveBack(inForkedChild isChild: Bool) {
        let released = (handler, forcedEndHandler, link?.held)
        handler = nil
        forcedEndHandler = nil
        link?.held = nil
        timer.invalidate()
        for source in sources { source.invalidate() }
        // Released last, when all state is consistent, because destroying an object that the handlers hold can call into this stop.
        withExtendedLifetime(released) {}
    }
}

@available(*, unavailable)
extension GracefulStop: Sendable {}

extension GracefulStop: CustomStringConvertible {
    /// A description, with the source location at which this object was made.
    public var description: String { "\(isValid ? "" : "invalid ")graceful stop made at \(origin)" }
}

internal import Glibc

/// Ends a program gracefully after a signal: the program first finishes the work that is under way, within a deadline.
///
/// The first `SIGTERM` or `SIGINT` begins the stop, and your handler is called once. In the handler, make your program stop
/// accepting work. Call ``finish()`` when all work is done, in the handler or later. ``finish()`` stops the run of the loop, so
/// that the main function returns:
///
/// ```swift
/// let stop = try GracefulStop(deadline: .seconds(30)) { stop in
///     server.close { stop.finish() }
/// }
/// try RunLoop.current.add(stop, forMode: .common)
/// RunLoop.current.run()
/// ```
///
/// If a second signal arrives before ``finish()``, or the deadline passes, the program ends at once: see ``onForcedEnd``. An
/// operator who presses Ctrl-C twice does not wait for the work.
///
/// Like a ``SignalSource``, a `GracefulStop` owns its signals until it is finished, invalidated or destroyed. After that, the
/// signals have their previous effect again: they end the program, unless other code has changed their effect.
///
/// All handlers are called on the loop's thread. So while a handler of the loop blocks, neither the second signal nor the deadline
/// ends the program.
///
/// > Thread safety: one thread; after the object is added to a loop, the thread of the loop.
public final class GracefulStop {
    /// The signals that begin a stop by default: `SIGTERM` and `SIGINT`.
    public static let defaultSignals: [CInt] = [SIGTERM, SIGINT]

    /// True after the stop has begun.
    public private(set) var isStopping = false

    /// True until ``finish()`` or ``invalidate()`` is called.
    public private(set) var isValid = true

    /// The handler that ends the program if the stop takes too long.
    ///
    /// The handler is called when the deadline passes, and for each signal after the first. It is not called any more after
    /// ``finish()`` or ``invalidate()``.
    ///
    /// The default handler ends the process at once with ``ForcedEnd/exitStatus``, without running the functions that were
    /// registered with `atexit`. If your handler returns, the program continues, and can still call ``finish()``. Once this object
    /// is invalid, setting the handler does nothing.
    public var onForcedEnd: (ForcedEnd) -> Void {
        get { forcedEndHandler ?? { _ in } }
        set { if isValid { forcedEndHandler.replace(with: newValue) } }
    }

    private var forcedEndHandler: ((ForcedEnd) -> Void)?
    private var handler: ((GracefulStop) -> Void)?
    private let deadline: Duration
    private let origin: SourceLocation

    /// The sources of the signals; empty once this object is invalid.
    private var sources: [SignalSource] = []
    /// The timer that fires at the deadline; until the stop begins, its date is the distant future.
    private var timer: Timer?
    /// The link through which the handlers of the signal sources reach the `GracefulStop`.
    ///
    /// While the `GracefulStop` is in a loop, the link holds the `GracefulStop`. Only the handlers hold the link. The loop holds
    /// the sources, which release their handlers when the loop ends.
    private weak var link: Link?

    private final class Link {
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
    ///   - deadline: The time from the beginning of the stop to its forced end.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - begin: Called once on the loop's thread, with the `GracefulStop`, when the first signal has arrived.
    /// - Throws: ``SignalSourceError`` if another source or other code owns one of the signals, or if the kernel refuses. No signal
    ///   is taken over then.
    public init(
        signals: [CInt] = GracefulStop.defaultSignals, deadline: Duration, fileID: StaticString = #fileID,
        line: Int = #line, begin: @escaping (GracefulStop) -> Void
    ) throws(SignalSourceError) {
        if signals.isEmpty {
            misuse("GracefulStop.init: no signal would begin the stop; name at least one")
        }
        self.deadline = deadline
        origin = SourceLocation(fileID, line)
        handler = begin
        forcedEndHandler = { _exit($0.exitStatus) }
        let link = Link()
        for signal in signals {
            sources.append(
                try SignalSource(signal, fileID: fileID, line: line) { [link] _, arrival in
                    link.stop?.take(arrival)
                })
        }
        timer = Timer(
            fireAt: .distantFuture, interval: .zero, repeats: false, fileID: fileID, line: line
        ) { [weak self] _ in self?.forceEnd(.deadlinePassed) }
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
        timer?.fireDate = .now + deadline
        let called = handler
        handler = nil
        called?(self)
    }

    /// Releases the signals, and stops the run of the loop; call this when all work is done.
    ///
    /// The innermost run ends after the pass that is under way. You can also call this before the stop has begun. If this object is
    /// invalid, the call does nothing.
    public func finish() {
        requireCurrent("GracefulStop.finish")
        guard isValid else { return }
        let loop = sources.first?.watch?.membership.loop == nil ? nil : RunLoop.existing
        invalidate()
        loop?.stop()
    }

    /// Removes this object from its loop for good, and releases the signals and the handlers.
    ///
    /// After this call, no handler of this object starts. A second call does nothing.
    public func invalidate() {
        requireCurrent("GracefulStop.invalidate")
        isValid = false
        let released = (handler, forcedEndHandler, link?.held)
        handler = nil
        forcedEndHandler = nil
        link?.held = nil
        let ended = sources
        sources = []
        timer?.invalidate()
        timer = nil
        for source in ended { source.invalidate() }
        // Released last, when all state is consistent, because destroying an object that the handlers hold can call into this stop.
        withExtendedLifetime(released) {}
    }

    private func take(_ arrival: SignalSource.Arrival) {
        if !isStopping {
            begin()
            if arrival.count == 1 { return }
        }
        forceEnd(.signal(arrival.signal))
    }

    private func forceEnd(_ end: ForcedEnd) {
        if isValid { forcedEndHandler?(end) }
    }

    private func requireCurrent(_ member: StaticString) {
        _ = sources.first?.watch?.membership.loop?.requireCurrent(member)
    }
}

extension GracefulStop {
    fileprivate func join(_ loop: RunLoop, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isValid, let timer else { return }
        var added: [SignalSource] = []
        do {
            for source in sources {
                try loop.add(source, forMode: mode)
                added.append(source)
            }
        } catch {
            for source in added { loop.remove(source, forMode: mode) }
            throw error
        }
        loop.add(timer, forMode: mode)
        // If the loop has ended, it has accepted no source, and must not hold the stop.
        if sources.first?.watch?.membership.loop != nil { link?.held = self }
    }

    fileprivate func leave(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        guard let timer else { return }
        for source in sources { loop.remove(source, forMode: mode) }
        loop.remove(timer, forMode: mode)
        guard sources.first?.watch?.membership.loop == nil else { return }
        let released = link?.held
        link?.held = nil
        withExtendedLifetime(released) {}
    }
}

extension RunLoop {
    /// Adds a `GracefulStop` to a mode.
    ///
    /// The loop holds the object until it is removed from its last mode or becomes invalid. While the object is in the mode, it
    /// keeps the mode alive. If the object is in the mode already, or is invalid, the call does nothing.
    ///
    /// - Parameters:
    ///   - stop: The object. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch the signals. The object is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ stop: GracefulStop, forMode mode: Mode) throws(SystemError) {
        try stop.join(self, mode)
    }

    /// Removes a `GracefulStop` from a mode.
    ///
    /// The object still owns its signals, and stores the signals that arrive.
    ///
    /// - Parameters:
    ///   - stop: The object. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ stop: GracefulStop, forMode mode: Mode) { stop.leave(self, mode) }
}

@available(*, unavailable)
extension GracefulStop: Sendable {}

extension GracefulStop: CustomStringConvertible {
    /// A description, with the source location at which this object was made.
    public var description: String { "\(isValid ? "" : "invalid ")graceful stop made at \(origin)" }
}

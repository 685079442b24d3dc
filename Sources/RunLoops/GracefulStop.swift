internal import Glibc

/// Ends a program gracefully when a signal asks for it: the work that is under way is finished first, within a deadline.
///
/// The first `SIGTERM` or `SIGINT` begins the stop, once: your handler is called, stops accepting work, and calls ``finish()``
/// when the work is done, at once or later. ``finish()`` stops the run of the loop, so that the main function returns:
///
/// ```swift
/// let stop = try GracefulStop(deadline: .seconds(30)) { stop in
///     server.close { stop.finish() }
/// }
/// try RunLoop.current.add(stop, forMode: .common)
/// RunLoop.current.run()
/// ```
///
/// If a second signal comes before that, or the deadline passes, the program ends at once: see ``onForcedEnd``. An operator who
/// presses Ctrl-C twice does not wait for the work.
///
/// The stop owns its signals, as a ``SignalSource`` does, from the moment it is made until it is finished, invalidated or
/// destroyed. After that, the signals have their previous effect again: they end the program, unless that was changed.
///
/// All handlers are called on the loop's thread. So while a handler of the loop blocks, neither the second signal nor the
/// deadline ends the program.
///
/// > Thread safety: one thread; once it is added, the thread of its loop.
public final class GracefulStop {
    /// The signals that begin a stop if you name no others: `SIGTERM` and `SIGINT`.
    public static let defaultSignals: [CInt] = [SIGTERM, SIGINT]

    /// True from the time the stop begins.
    public private(set) var isStopping = false

    /// False for good once the stop was finished or invalidated.
    public private(set) var isValid = true

    /// The handler that ends the program if the stop takes too long.
    ///
    /// It is called when the deadline passes, and for each signal after the first, until the stop is finished. At first it is
    /// a handler that ends the process at once with ``ForcedEnd/exitStatus``, without running the functions that were
    /// registered with `atexit`. If your handler returns, the stop goes on. Setting it on an invalid stop does nothing.
    public var onForcedEnd: (ForcedEnd) -> Void {
        get { forcedEndHandler ?? { _ in } }
        set { if isValid { forcedEndHandler = newValue } }
    }

    private var forcedEndHandler: ((ForcedEnd) -> Void)?
    private var handler: ((GracefulStop) -> Void)?
    private let deadline: Duration
    private let origin: SourceLocation

    /// The sources of the signals; none once the stop is invalid.
    private var sources: [SignalSource] = []
    /// The timer of the deadline, which is parked until the stop begins.
    private var timer: Timer?
    /// The object through which the sources' handlers reach the stop, and by which the loop holds it.
    ///
    /// Only the handlers hold it. The loop holds the sources, which release their handlers when the loop ends.
    private weak var link: Link?

    private final class Link {
        weak var stop: GracefulStop?
        /// The stop, while it is in a loop.
        var held: GracefulStop?
    }

    /// Makes a stop that is in no loop yet, and takes the signals.
    ///
    /// - Parameters:
    ///   - signals: The signals that begin the stop; at least one.
    ///   - deadline: The time from the beginning of the stop to its forced end.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - begin: Called once on the loop's thread, with the stop, when the first of the signals has come.
    /// - Throws: ``SignalSourceError``: another source or other code owns one of the signals, or the kernel refuses. Nothing has
    ///   changed then.
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

    /// Begins the stop, as the first signal does.
    ///
    /// Use this in a program that can also be asked to end in another way. If the stop has begun, or is invalid, nothing
    /// happens.
    public func begin() {
        requireCurrent("GracefulStop.begin")
        guard isValid, !isStopping else { return }
        isStopping = true
        timer?.fireDate = .now + deadline
        let called = handler
        handler = nil
        called?(self)
    }

    /// Ends the stop, because the work is done: gives the signals back, and stops the run of the loop.
    ///
    /// The innermost run ends, after the pass that is under way. Call this when all work is done, also before the stop has
    /// begun. If the stop is invalid, nothing happens.
    public func finish() {
        requireCurrent("GracefulStop.finish")
        guard isValid else { return }
        let loop = sources.first?.watch?.membership.loop == nil ? nil : RunLoop.existing
        invalidate()
        loop?.stop()
    }

    /// Removes the stop from its loop for good, gives the signals back, and releases the handlers.
    ///
    /// None of its handlers starts afterwards. Calling it again does nothing.
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
        // Released last, once all state is consistent: an object that the handlers hold may call back while that object is
        // destroyed.
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
        // A loop that has ended accepts no source.
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
    /// Adds a graceful stop to a mode.
    ///
    /// The loop holds the stop until it is removed from its last mode or becomes invalid. It keeps the mode alive. If the stop
    /// is in the mode already, or is invalid, nothing happens.
    ///
    /// - Parameters:
    ///   - stop: The stop. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch the signals. The stop is as it was before.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ stop: GracefulStop, forMode mode: Mode) throws(SystemError) {
        try stop.join(self, mode)
    }

    /// Removes a graceful stop from a mode.
    ///
    /// The stop still owns its signals, and keeps the signals that arrive.
    ///
    /// - Parameters:
    ///   - stop: The stop. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ stop: GracefulStop, forMode mode: Mode) { stop.leave(self, mode) }
}

@available(*, unavailable)
extension GracefulStop: Sendable {}

extension GracefulStop: CustomStringConvertible {
    /// The place where the stop was made.
    public var description: String { "\(isValid ? "" : "invalid ")graceful stop made at \(origin)" }
}

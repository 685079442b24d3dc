/// The calls of user code by one loop, which are timed or recorded if the program asked for that.
///
/// This object keeps track of whether they are. The record itself belongs to the ``LoopHandle``, because other threads read it.
///
/// > Thread safety: the loop's own thread only.
final class HandlerCaller {
    private let handle: LoopHandle
    /// Provides the date of the next timer, which is part of the record of a call.
    private let timers: LoopTimers

    /// True if handlers are timed or recorded, as of the last ``lookAgain()``.
    private var notes = false

    /// True if handlers are timed.
    var measures = false {
        didSet {
            handle.handlers.setTimed(measures)
            lookAgain()
            handle.longestHandler.withLock { $0 = nil }
        }
    }

    init(_ handle: LoopHandle, _ timers: LoopTimers) {
        self.handle = handle
        self.timers = timers
    }

    /// Checks whether handlers are to be timed or recorded from now on.
    ///
    /// The loop does this when a pass begins, when it wakes, and when mail arrives.
    @inline(__always)
    func lookAgain() { notes = handle.handlers.isWanted }

    /// Calls user code, and times or records the call if that was asked for.
    ///
    /// - Parameters:
    ///   - origin: The place where the user made the handler.
    ///   - kind: The kind of the handler.
    ///   - handler: The handler.
    @inline(__always)
    func call(
        _ origin: SourceLocation, as kind: RunLoop.HandlerKind = .block, _ handler: () -> Void
    ) {
        if notes { callNoted(origin, kind, handler) } else { handler() }
    }

    @inline(never)
    private func callNoted(
        _ origin: SourceLocation, _ kind: RunLoop.HandlerKind, _ handler: () -> Void
    ) {
        let isNoted = handle.handlers.begin(kind, origin, nextTimer: timers.nextWake)
        if measures { callTimed(origin, handler) } else { handler() }
        if isNoted { handle.handlers.end() }
    }

    private func callTimed(_ origin: SourceLocation, _ handler: () -> Void) {
        let start = Moment.now()
        handler()
        let length = Moment.now().nanoseconds - start.nanoseconds
        handle.longestHandler.withLock { longest in
            if length > longest?.nanoseconds ?? -1 {
                longest = LongestHandler(nanoseconds: length, origin: origin)
            }
        }
    }

    /// Records that a run begins; if it begins inside a handler, that handler does not count as blocking the loop during the
    /// run.
    func pause() -> HandlerRecord.Paused { handle.handlers.pause() }

    /// Records that the run has returned.
    func resume(_ paused: HandlerRecord.Paused) {
        handle.handlers.resume(paused, nextTimer: timers.nextWake)
    }
}

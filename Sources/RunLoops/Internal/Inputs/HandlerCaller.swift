/// Calls the handlers of one loop, and times, watches or records the calls if the program has asked for it.
///
/// Timing finds the ``RunLoop/Statistics/longestHandler``, watching is for a ``RunLoopWatchdog``, and recording is for the
/// ``FlightRecorder``.
///
/// The record of a watched call belongs to the ``LoopHandle``, because other threads read the record. The ring of recorded calls
/// belongs to the thread.
///
/// > Thread safety: the loop's own thread only.
final class HandlerCaller {
    let handle: LoopHandle
    /// The dates of the loop's timers; the record of a watched call contains the next one.
    private let dates: any WakeDates

    /// The handlers that are timed, watched or recorded, as found by the last call of ``lookAgain()``.
    var noted = Noted.none

    /// Handlers that are timed, watched or recorded.
    enum Noted {
        case none
        /// All but those of messages, of which there are too many to record each.
        ///
        /// The recorder sets this, unless handlers are also timed or watched. The next call of ``lookAgain()`` ends it.
        case allButMessages
        case all
    }

    /// True if a recorded handler has returned, and the loop has done only short work since then.
    ///
    /// In that case the recorder uses the time at which that handler ended as the time at which the next message's handler begins.
    /// So the recorder reads the clock only once for each handler.
    var followsHandler = false

    /// The last watched call of a handler, other than that of an observer; nil if there was none.
    private(set) var lastCall: (kind: HandlerKind, origin: SourceLocation)?

    /// True while the time is counted as busy time of the loop.
    ///
    /// The time is counted until the loop waits or its outermost run returns, even if ``noted`` becomes ``Noted/none`` earlier.
    private var isCountedAsBusy = false

    /// True if the program has asked the loop to time its handlers.
    var measures = false {
        didSet {
            handle.handlers.setTimed(measures)
            lookAgain()
            handle.longestHandler.withLock { $0 = nil }
        }
    }

    init(_ handle: LoopHandle, _ dates: any WakeDates) {
        self.handle = handle
        self.dates = dates
    }

    /// Checks whether handlers are to be timed, watched or recorded from now on.
    ///
    /// The loop calls this when a pass begins, when it wakes, and when mail arrives. The method stores the result and calls no
    /// other method of this object, because such a call would retain the object in every pass.
    @inline(__always)
    func lookAgain() {
        noted = handle.handlers.isWanted ? .all : .none
    }

    /// Notes that the loop begins to serve messages.
    ///
    /// The recorder therefore reads the clock before the first handler.
    @inline(__always)
    func beginMessages() { followsHandler = false }

    /// Begins to count the time as busy, if handlers are timed, watched or recorded.
    ///
    /// The loop calls this when a pass begins, and after it has waited.
    @inline(__always)
    func noteBusy() { if noted != .none { beginBusyTime() } }

    /// Stops counting the time as busy, because the loop is about to wait, or the outermost run returns.
    @inline(__always)
    func noteIdle() { if isCountedAsBusy { endBusyTime() } }

    @inline(never)
    private func beginBusyTime() {
        isCountedAsBusy = true
        handle.counters.busyTime.begin(at: Moment.now())
    }

    @inline(never)
    private func endBusyTime() {
        isCountedAsBusy = false
        handle.counters.busyTime.end(at: Moment.now())
    }

    /// Calls a handler, and times, watches or records the call if the program has asked for it.
    ///
    /// - Parameters:
    ///   - origin: The source location at which the handler was made.
    ///   - kind: The kind of the handler.
    ///   - handler: The handler.
    @inline(__always)
    func call(
        _ origin: SourceLocation, as kind: HandlerKind = .block, _ handler: () -> Void
    ) {
        HeldLocks.requireNone()
        if noted != .none {
            followsHandler = false
            callNoted(origin, kind, stamp: 0, number: 0, handler)
        } else {
            handler()
        }
    }

    /// Calls the handler of a message.
    ///
    /// - Parameters:
    ///   - origin: The source location at which the handler was made or the message was sent.
    ///   - kind: The kind of the handler.
    ///   - node: The node that carries the message.
    ///   - waiting: The number of messages that wait in the same port, including this message.
    ///   - handler: The handler.
    @inline(__always)
    func callForMessage(
        _ origin: @autoclosure () -> SourceLocation, as kind: HandlerKind, _ node: Node,
        waiting: @autoclosure () -> Int = 0,
        _ handler: () -> Void
    ) {
        HeldLocks.requireNone()
        if noted == .all {
            callNoted(origin(), kind, stamp: node.takeStamp(), number: waiting(), handler)
        } else {
            handler()
        }
    }

    /// Calls the handler of a timer.
    ///
    /// - Parameters:
    ///   - origin: The source location at which the timer was made.
    ///   - due: The date of the planned fire; nil for a call of `fire()`.
    ///   - handler: The handler.
    @inline(__always)
    func callForTimer(_ origin: SourceLocation, dueAt due: Moment?, _ handler: () -> Void) {
        HeldLocks.requireNone()
        if noted != .none {
            callNoted(origin, .timer, stamp: due.map(Recorder.lateness) ?? 0, number: 0, handler)
        } else {
            handler()
        }
    }

    @inline(never)
    func callNoted(
        _ origin: SourceLocation, _ kind: HandlerKind, stamp: UInt32, number: Int,
        _ handler: () -> Void
    ) {
        if handle.handlers.isRecorded {
            callRecorded(origin, kind, stamp: stamp, number: number, handler)
        } else {
            callWatched(origin, kind, handler)
        }
    }

    /// Calls a handler, and times or watches the call if the program has asked for it.
    func callWatched(
        _ origin: SourceLocation, _ kind: HandlerKind, _ handler: () -> Void
    ) {
        if kind != .observer { lastCall = (kind, origin) }
        let isNoted = handle.handlers.begin(kind, origin, nextTimer: dates.nextWake)
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

    /// Records that a run of the loop begins.
    ///
    /// If the run begins inside a handler, the handler does not count as blocking the loop during the run.
    func pause() -> HandlerRecord.Paused { handle.handlers.pause() }

    /// Records that a run of the loop has returned.
    ///
    /// - Parameter paused: The result of ``pause()`` for this run.
    func resume(_ paused: HandlerRecord.Paused) {
        handle.handlers.resume(paused, nextTimer: dates.nextWake)
    }
}

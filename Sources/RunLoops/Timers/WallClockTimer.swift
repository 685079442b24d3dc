/// Calls a handler at dates of the wall clock, such as at three o'clock every night.
///
/// A ``Timer`` measures time, and does not notice that the wall clock is set. A `WallClockTimer` fires when the wall clock has
/// reached a date. If the clock is set, by hand, by a time server or in a virtual machine that resumes, the timer follows. A date is
/// a `Duration` since 1970-01-01 00:00:00 UTC, as in ``RunLoop/timeSince1970``.
///
/// Your closure computes each date, for example with Foundation's `Calendar`, which knows time zones and summer time. This timer
/// fires at each full hour:
///
/// ```swift
/// let timer = WallClockTimer { time in
///     .seconds((time.components.seconds / 3600 + 1) * 3600)
/// } handler: { _ in
///     rotateLogs()
/// }
/// try RunLoop.current.add(timer, forMode: .common)
/// ```
///
/// The closure is called when the timer is first added, after each fire, and when the clock was set to a time before the next
/// date. It gets the time after which the next date is wanted: the present time. If the clock was set back by less than an hour, it
/// gets the date of the last fire, so that small corrections of the clock repeat no date.
///
/// The timer never fires before its date, which is rounded up to a whole microsecond. If a date passes because the loop is busy,
/// because none of the timer's modes runs, or because the clock is set forward, the timer fires once for all dates that it has
/// missed.
///
/// While it is in a loop, the timer has a descriptor, through which the kernel reports that the clock was set.
///
/// > Thread safety: ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>). All other members from one thread; after the
/// > timer is added, from the thread of its loop.
public final class WallClockTimer {
    /// The date of the next fire, since 1970; nil before the first date was computed, inside the handler, and after the end.
    @_disfavoredOverload public internal(set) var fireDate: Duration?

    /// True until the timer is invalidated, or has fired for the last time.
    ///
    /// The property is still true inside the handler of the last fire.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }
    package let end = InputEnd()

    /// The descriptor source that represents this timer in its loop, and through which the loop learns that the clock was set.
    var watch: DescriptorSource?
    /// The timer for the next date, in the modes of `watch`; nil before this timer joins its first loop.
    var timer: Timer?
    /// The descriptor of `watch`; nil before this timer joins its first loop, and after the end.
    var clock: WallClockWatch?
    var handler: ((WallClockTimer) -> Void)?
    /// The closure that computes the dates; nil if the timer has one date.
    var nextDate: ((Duration) -> Duration?)?
    /// The date of the last fire, since 1970.
    var lastDate: Duration?
    var isFiring = false
    let origin: SourceLocation

    /// Makes a timer that fires at dates which a closure computes.
    ///
    /// - Parameters:
    ///   - nextDate: Called on the loop's thread with a time since 1970. It returns the first date after that time, or nil to end
    ///     the timer.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the timer.
    public init(
        nextDate: @escaping (Duration) -> Duration?, fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (WallClockTimer) -> Void
    ) {
        self.nextDate = nextDate
        self.handler = handler
        origin = SourceLocation(fileID, line)
    }

    /// Makes a timer that fires once, when the wall clock has reached a date.
    ///
    /// - Parameters:
    ///   - date: The date, since 1970. If it has passed, the timer fires at once.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the timer.
    public init(
        fireAt date: Duration, fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (WallClockTimer) -> Void
    ) {
        fireDate = date.roundedUpToMicroseconds
        self.handler = handler
        origin = SourceLocation(fileID, line)
    }

    /// Removes the timer from its loop for good, and releases its handler and the closure that computes dates.
    ///
    /// The handler does not start afterwards. A second call does nothing.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }
}

@available(*, unavailable)
extension WallClockTimer: Sendable {}

extension WallClockTimer: CustomStringConvertible {
    /// The place where the timer was made.
    public var description: String { "\(isValid ? "" : "invalid ")wall clock timer made at \(origin)" }
}

extension WallClockTimer: RunLoopInput {
    /// Adds the timer to a mode of a loop; call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// If the closure of a new timer returns no date, the timer ends, and is in no loop.
    ///
    /// - Parameters:
    ///   - loop: The loop; the timer must be in no other one.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the process has no descriptor left, or the kernel has no room to watch one. The timer is
    ///   unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
        let core = loop.core("RunLoop.add(timer)", "perform a block on the loop and add the timer there")
        guard isValid, !core.members.hasEnded else { return }
        // The clock is watched before it is read: otherwise nobody would notice that it is set in between.
        if clock == nil { clock = try WallClockWatch() }
        try join(core.descriptors, mode)
        let timer = timer ?? Timer(of: self, origin)
        self.timer = timer
        timer.join(core.timers, of: core.members, mode)
        if fireDate == nil && !isFiring { setNextDate() } else { plan() }
    }
}

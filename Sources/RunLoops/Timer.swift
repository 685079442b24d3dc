/// Calls a handler at a date, once or repeatedly.
///
/// A timer does nothing until it is added to a loop, and fires only while one of its modes runs. If it becomes due while none of
/// its modes runs, it fires once when the loop next runs in one of them. It never fires early, and it fires late if its loop is
/// busy.
///
/// A repeating timer keeps to the grid of its first date and its interval: a late fire does not move the next fires. One fire
/// replaces all missed fires, which are counted in ``missedFireCount``. Timers that are due at the same date fire in the order in
/// which they were added. If the handler runs the loop, that inner run does not fire the timer again.
///
/// ```swift
/// let timer = Timer(timeInterval: .milliseconds(250), repeats: true) { timer in
///     if !refresh() { timer.invalidate() }
/// }
/// RunLoop.current.add(timer, forMode: .common)
/// ```
///
/// Dates are instants of `ContinuousClock`, which continues while the machine sleeps, and does not change when the wall clock is
/// set.
///
/// > Thread safety: one thread; after the timer is added, the thread of its loop.
public final class Timer {
    /// The time between two fires; zero for a timer that does not repeat.
    @_disfavoredOverload public var timeInterval: Duration { .nanoseconds(interval) }

    /// True until the timer is invalidated or has fired for the last time.
    ///
    /// If a timer does not repeat, a fire is the last one unless the handler sets a new ``fireDate``. The property is still true
    /// inside the handler of the last fire.
    public private(set) var isValid = true

    /// The number of fires of a repeating timer that were missed because the loop was late.
    ///
    /// Dates that had already passed when the timer was made, or when its ``fireDate`` was set, are not counted.
    public private(set) var missedFireCount = 0

    /// The wall-clock date from which another module has computed ``fireDate``; nil if that module has stored none.
    package var wallClockDate: AnyObject?

    var membership = Membership()

    /// The date of the next fire.
    private(set) var date: Moment
    /// The interval in nanoseconds; 0 if the timer does not repeat.
    let interval: Int64
    private var toleranceNanoseconds: Int64 = 0
    private var handler: ((Timer) -> Void)?
    /// The timers of the loop that the timer is in; nil while the timer is in no loop.
    ///
    /// `unowned(unsafe)`: the loop's ``LoopMembers`` holds the object, and exists as long as this reference is set. `membership`
    /// holds the ``LoopMembers`` while the timer is in the loop, and the caller of `didLeave` holds it during that call.
    private unowned(unsafe) var timers: LoopTimers?
    private var plannedFire: TimerQueue<Timer>.Fire?
    /// The timer's index among its loop's overdue timers; nil if the timer is not one of them.
    private var overduePosition: Int?
    private var sequence: UInt64 = 0
    private var isFiring = false
    private var dateWasSet = false
    let origin: SourceLocation

    /// The input, such as a ``LibrarySource``, that sets this timer's date and is called at that date; nil for a user's timer.
    ///
    /// `unowned(unsafe)`: the input owns this timer, and exists as long as the timer is in a loop.
    private unowned(unsafe) let dated: (any DatedInput)?
    private(set) var keepsModeAlive = true

    private static let shortestInterval: Int64 = 100_000

    /// Makes a timer that first fires one interval from now.
    ///
    /// - Parameters:
    ///   - timeInterval: The time to the first fire, and between fires. Zero or less means that the timer fires at once, and then,
    ///     if it repeats, every 100 µs.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: Called on the loop's thread with the timer.
    public convenience init(
        timeInterval: Duration, repeats: Bool, fileID: StaticString = #fileID, line: Int = #line,
        block: @escaping (Timer) -> Void
    ) {
        let date = Moment.now().advanced(by: max(timeInterval.nanosecondsRoundedUp, 0))
        self.init(date: date, timeInterval, repeats, SourceLocation(fileID, line), block)
    }

    /// Makes a timer that first fires at a date.
    ///
    /// - Parameters:
    ///   - date: The date of the first fire. If the date has passed, the timer fires at once; a repeating timer still keeps to the
    ///     grid of the date.
    ///   - interval: The time between fires of a repeating timer. Zero or less means every 100 µs.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: Called on the loop's thread with the timer.
    public convenience init(
        fireAt date: ContinuousClock.Instant, interval: Duration, repeats: Bool,
        fileID: StaticString = #fileID, line: Int = #line, block: @escaping (Timer) -> Void
    ) {
        self.init(date: Moment(date), interval, repeats, SourceLocation(fileID, line), block)
    }

    private init(
        date: Moment, _ interval: Duration, _ repeats: Bool, _ origin: SourceLocation,
        _ handler: @escaping (Timer) -> Void
    ) {
        let nanoseconds = interval.nanosecondsRoundedUp
        self.interval = !repeats ? 0 : nanoseconds > 0 ? nanoseconds : Timer.shortestInterval
        self.date = Timer.firstFire(from: date, interval: self.interval)
        self.origin = origin
        self.handler = handler
        unsafe dated = nil
    }

    /// Makes a timer that calls another input; the input sets the date of the call with ``keep(_:)``.
    init(of input: any DatedInput, _ origin: SourceLocation) {
        interval = 0
        date = .never
        self.origin = origin
        unsafe dated = input
    }

    /// Returns the date of the first fire after the timer's date is set to `date`.
    ///
    /// If the timer repeats and `date` has passed, this is the latest date of the timer's grid that is not in the future.
    private static func firstFire(from date: Moment, interval: Int64) -> Moment {
        interval == 0 ? date : FireGrid.latest(from: date, interval: interval, now: Moment.now())
    }

    /// The date of the next fire.
    ///
    /// A repeating timer fires on a grid of dates, and setting its date begins a new grid at the new date. If the new date of a
    /// repeating timer has passed, the property becomes the latest date of the new grid that is not in the future. If the timer's
    /// own handler sets the date, the timer next fires at that date. With ``_Concurrency/ContinuousClock/Instant/distantFuture``,
    /// the timer stays in the loop, but does not fire. Setting the date of an invalid timer does nothing.
    @_disfavoredOverload public var fireDate: ContinuousClock.Instant {
        get { date.instant }
        set {
            _ = membership.loop?.requireCurrent("Timer.fireDate")
            guard isValid else { return }
            date = Timer.firstFire(from: Moment(newValue), interval: interval)
            if isFiring { dateWasSet = true }
            replan()
        }
    }

    /// The maximum time by which the timer may fire late to share a wake-up with other timers; zero by default.
    ///
    /// Delays do not add up, because a repeating timer keeps its grid. The tolerance of a repeating timer is limited to half its
    /// interval.
    ///
    /// - Precondition: The tolerance is not negative.
    @_disfavoredOverload public var tolerance: Duration {
        get { .nanoseconds(toleranceNanoseconds) }
        set {
            _ = membership.loop?.requireCurrent("Timer.tolerance")
            if newValue < .zero {
                misuse(
                    "Timer.tolerance: \(newValue) is negative; a timer never fires early, so use zero or more"
                )
            }
            let nanoseconds = newValue.nanosecondsRoundedUp
            toleranceNanoseconds = interval > 0 ? min(nanoseconds, interval / 2) : nanoseconds
            replan()
        }
    }

    /// Calls the handler now, on this thread.
    ///
    /// A repeating timer keeps its dates. A timer that does not repeat becomes invalid, unless its handler sets a new ``fireDate``.
    /// The call does nothing on an invalid timer, and in the timer's own handler.
    public func fire() {
        let loop = membership.loop?.requireCurrent("Timer.fire")
        guard isValid, !isFiring else { return }
        unplan()
        callHandler(loop?.handlers)
    }

    /// Removes the timer from its loop for good, and releases its handler.
    ///
    /// In the timer's own handler, the call ends the repetition. A second call does nothing.
    public func invalidate() {
        let loop = membership.loop?.requireCurrent("Timer.invalidate")
        isValid = false
        let released = handler
        handler = nil
        loop?.remove(self)
        unsafe dated?.loopHasEnded()
        // The handler is released last, when all state is consistent: an object that it held can call the timer in its `deinit`.
        withExtendedLifetime(released) {}
    }
}

@available(*, unavailable)
extension Timer: Sendable {}

extension Timer: LoopInput {
    func join(_ timers: LoopTimers, of loop: LoopMembers, _ mode: RunLoop.Mode) {
        guard isValid else { return }
        if let other = membership.loop, other !== loop {
            misuse("RunLoop.add(timer): the \(self) is in another loop; remove it there first")
        }
        if membership.loop == nil { sequence = timers.makeSequence() }
        loop.add(self, to: mode)
        if membership.loop != nil { unsafe self.timers = timers }
        plan()
    }

    func didLeave(_ loop: LoopMembers) {
        unplan()
        leaveOverdue()
        unsafe timers = nil
        if loop.hasEnded { invalidate() }
    }

    /// Adds the next fire to the loop's queue, unless it is in the queue or the handler is running.
    ///
    /// If the handler is running, `callHandler` adds the next fire afterwards.
    func plan() {
        guard let timers = unsafe timers else { return }
        leaveOverdue()
        guard plannedFire == nil, isValid, !isFiring, unsafe dated == nil || date != .never else { return }
        plannedFire = timers.add(self, date: date, tolerance: toleranceNanoseconds, sequence: sequence)
    }

    private func unplan() {
        if let plannedFire { unsafe timers?.cancel(plannedFire) }
        plannedFire = nil
    }

    private func replan() {
        guard plannedFire != nil else { return }
        unplan()
        plan()
    }

    /// Stores the timer's index in the loop's list of overdue timers.
    ///
    /// A timer is overdue if it became due while the loop ran in a mode that the timer is not in. At that moment, the loop's queue
    /// removed the timer's planned fire.
    func becomeOverdue(_ position: Int) {
        plannedFire = nil
        overduePosition = position
    }

    private func leaveOverdue() {
        guard let position = overduePosition else { return }
        overduePosition = nil
        unsafe timers?.removeOverdue(at: position)
    }

    /// Sets the date at which the timer calls its input; nil for no date.
    func keep(_ moment: Moment?) {
        unplan()
        date = moment ?? .never
        plan()
    }

    /// Changes `keepsModeAlive`, and corrects the number of inputs that keep each of the timer's modes alive.
    func setKeepsModesAlive(_ keeps: Bool) {
        if keeps == keepsModeAlive { return }
        keepsModeAlive = keeps
        membership.loop?.countAgain(self)
    }

    /// Performs a planned fire, which the loop's queue has already removed, and plans the next fire.
    func fireAsPlanned(in loop: LoopMembers) {
        plannedFire = nil
        if let dated = unsafe dated {
            date = .never
            return dated.dateHasCome()
        }
        loop.handle.counters.timerFires.add()
        callHandler(loop.handlers, planned: date)
    }

    /// Calls the handler, then plans the next fire or ends the timer.
    ///
    /// - Parameters:
    ///   - handlers: The handlers of the loop that the timer is in; nil if the timer is in no loop.
    ///   - planned: The date of the planned fire, from which a repeating timer computes its next date; nil for a call of `fire()`.
    private func callHandler(_ handlers: HandlerCaller?, planned: Moment? = nil) {
        guard let handler else { return }
        isFiring = true
        if let handlers {
            handlers.callForTimer(origin, dueAt: planned) { handler(self) }
        } else {
            handler(self)
        }
        isFiring = false
        if interval == 0 && !dateWasSet { return invalidate() }
        if let planned, isValid, !dateWasSet {
            let next = FireGrid.next(after: planned, interval: interval, now: Moment.now())
            date = next.date
            missedFireCount += next.missed
        }
        dateWasSet = false
        plan()
    }
}

internal import Synchronization

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
/// > Thread safety: ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>), and reading ``fireDate``, ``timeInterval`` and
/// > ``tolerance``. All other members from one thread; after the timer is added, from the thread of its loop.
public final class Timer {
    /// The time between two fires; zero for a timer that does not repeat.
    @_disfavoredOverload public var timeInterval: Duration { .nanoseconds(interval) }

    /// True until the timer is invalidated or has fired for the last time.
    ///
    /// If a timer does not repeat, a fire is the last one unless the handler sets a new ``fireDate``. The property is still true
    /// inside the handler of the last fire.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }

    /// The number of fires of a repeating timer that were missed because the loop was late.
    ///
    /// Dates that had already passed when the timer was made, or when its ``fireDate`` was set, are not counted.
    public var missedFireCount: Int { state.missedFireCount }

    /// The object that another module keeps for the timer: see `companion(_:)`.
    let storedCompanion = AtomicLazyReference<AnyObject>()

    /// The state that only the thread of the timer's loop accesses.
    ///
    /// It is not checked for exclusivity, because each fire accesses it many times; ``ExclusivityUnchecked`` gives the reason.
    /// Stored like this, it needs no memory of its own.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    var state: State
    package let end = InputEnd()

    /// The date of the next fire, in nanoseconds, which any thread may read.
    private let moment = Atomic<Int64>(0)
    /// The interval in nanoseconds; 0 if the timer does not repeat.
    let interval: Int64
    /// The tolerance in nanoseconds, which any thread may read.
    private let storedTolerance = Atomic<Int64>(0)
    let origin: SourceLocation

    /// The input, such as a ``LibrarySource``, that sets this timer's date and is called at that date; nil for a user's timer.
    ///
    /// `unowned(unsafe)`: the input owns this timer, and exists as long as the timer is in a loop.
    unowned(unsafe) let dated: (any DatedInput)?
    /// False if another input sets the timer's date: that input keeps its modes alive itself.
    let keepsModeAlive: Bool

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
        let nanoseconds = timeInterval.nanosecondsRoundedUp
        let date = Moment.now().advanced(by: max(nanoseconds, 0))
        self.init(date: date, repeats ? nanoseconds : nil, SourceLocation(fileID, line), block)
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
        let nanoseconds = repeats ? interval.nanosecondsRoundedUp : nil
        self.init(date: Moment(date), nanoseconds, SourceLocation(fileID, line), block)
    }

    /// Makes a timer with an interval in nanoseconds; nil if the timer does not repeat.
    private init(
        date: Moment, _ interval: Int64?, _ origin: SourceLocation, _ handler: @escaping (Timer) -> Void
    ) {
        self.interval = interval.map { $0 > 0 ? $0 : Timer.shortestInterval } ?? 0
        self.origin = origin
        state = State(handler: Handler(call: handler))
        unsafe dated = nil
        keepsModeAlive = true
        self.date = Timer.firstFire(from: date, interval: self.interval)
    }

    /// Makes a timer that calls another input; the input sets the date of the call with ``keep(_:)``.
    init(of input: any DatedInput, _ origin: SourceLocation) {
        interval = 0
        self.origin = origin
        state = State(handler: nil)
        unsafe dated = input
        keepsModeAlive = false
        date = .never
    }

    /// The date of the next fire.
    ///
    /// A repeating timer fires on a grid of dates, and setting its date begins a new grid at the new date. If the new date of a
    /// repeating timer has passed, the property becomes the latest date of the new grid that is not in the future. If the timer's
    /// own handler sets the date, the timer next fires at that date. With ``_Concurrency/ContinuousClock/Instant/distantFuture``,
    /// the timer stays in the loop, but does not fire. Setting the date of an invalid timer does nothing.
    ///
    /// > Thread safety: to read, any thread.
    @_disfavoredOverload public var fireDate: ContinuousClock.Instant {
        get { date.instant }
        set {
            _ = membership.loop?.requireCurrent("Timer.fireDate")
            guard isValid else { return }
            date = Timer.firstFire(from: Moment(newValue), interval: interval)
            if state.isFiring { state.dateWasSet = true }
            replan()
        }
    }

    /// The maximum time by which the timer may fire late to share a wake-up with other timers; zero by default.
    ///
    /// Delays do not add up, because a repeating timer keeps its grid. The tolerance of a repeating timer is limited to half its
    /// interval.
    ///
    /// - Precondition: The tolerance is not negative.
    ///
    /// > Thread safety: to read, any thread.
    @_disfavoredOverload public var tolerance: Duration {
        get { .nanoseconds(toleranceNanoseconds) }
        set {
            _ = membership.loop?.requireCurrent("Timer.tolerance")
            toleranceNanoseconds = possibleTolerance(newValue)
            replan()
        }
    }

    /// The date of the next fire.
    var date: Moment {
        get { Moment(nanoseconds: moment.load(ordering: .relaxed)) }
        set { moment.store(newValue.nanoseconds, ordering: .relaxed) }
    }

    var toleranceNanoseconds: Int64 {
        get { storedTolerance.load(ordering: .relaxed) }
        set { storedTolerance.store(newValue, ordering: .relaxed) }
    }

    /// Calls the handler now, on this thread.
    ///
    /// A repeating timer keeps its dates. A timer that does not repeat becomes invalid, unless its handler sets a new ``fireDate``.
    /// The call does nothing on an invalid timer, and in the timer's own handler.
    @_disfavoredOverload public func fire() {
        let loop = membership.loop?.requireCurrent("Timer.fire")
        guard isValid, !state.isFiring else { return }
        unplan()
        callHandler(loop?.handlers)
    }

    /// Removes the timer from its loop for good, and releases its handler.
    ///
    /// In the timer's own handler, the call ends the repetition. A second call does nothing.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }
}

@available(*, unavailable)
extension Timer: Sendable {}

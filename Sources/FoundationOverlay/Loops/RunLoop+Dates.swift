public import Foundation
public import RunLoops

public import class RunLoops.RunLoop

/// Methods that run the loop until a date, which is converted to an instant when the run begins.
extension RunLoop {
    /// Runs in the default mode until a date, until the loop is stopped, or until the mode is empty.
    ///
    /// - Parameter limitDate: The date at which the run ends. If the date is in the past, the run makes one pass.
    ///
    /// > Thread safety: the loop's own thread only.
    @_disfavoredOverload
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    public func run(until limitDate: Date) {
        run(until: ContinuousClock.Instant(limitDate, for: "RunLoop.run(until:)"))
    }

    /// Runs in a mode until one source or port has been served, or until a date.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; not `.common`.
    ///   - limitDate: The date at which the run ends if nothing was served.
    /// - Returns: False if the run could not begin because the mode is empty.
    ///
    /// > Thread safety: the loop's own thread only.
    @_disfavoredOverload
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    @discardableResult
    public func run(mode: Mode, before limitDate: Date) -> Bool {
        run(mode: mode, before: ContinuousClock.Instant(limitDate, for: "RunLoop.run(mode:before:)"))
    }

    /// Runs once in a mode, until a source or port was served or a date has passed.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; not `.common`.
    ///   - limitDate: The date at which the run ends if nothing was served.
    ///
    /// > Thread safety: the loop's own thread only.
    @_disfavoredOverload
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    public func acceptInput(forMode mode: Mode, before limitDate: Date) {
        run(mode: mode, before: ContinuousClock.Instant(limitDate, for: "RunLoop.acceptInput"))
    }

    /// Makes one pass in a mode without sleeping, and returns the date at which the mode's next timer fires.
    ///
    /// - Parameter mode: The mode; not `.common`.
    /// - Returns: The date, according to the current wall clock, at which the mode's next timer fires; `Date.distantFuture` if the
    ///   mode has no timer, or nil if the mode is empty. On another thread than the loop's, this makes no pass, and returns nil.
    ///
    /// > Thread safety: any thread.
    @available(*, noasync, message: "a run blocks its thread; run a RunLoopThread instead")
    public func limitDate(forMode mode: Mode) -> Date? {
        if !isCurrent { return nil }
        let limit: ContinuousClock.Instant? = limitDate(forMode: mode)
        guard let limit else { return nil }
        return WallClockDate(at: limit).date
    }
}

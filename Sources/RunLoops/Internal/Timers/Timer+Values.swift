// The values that a timer takes for a date and a tolerance that are set.

extension Timer {
    var unservedParts: [Unserved] { keepsModeAlive ? [Unserved("timer", madeAt: origin)] : [] }

    /// Returns the date of the first fire after the timer's date is set to `date`.
    ///
    /// If the timer repeats and `date` has passed, this is the latest date of the timer's grid that is not in the future.
    static func firstFire(from date: Moment, interval: Int64) -> Moment {
        interval == 0 ? date : FireGrid.latest(from: date, interval: interval, now: Moment.now())
    }

    /// Returns a tolerance in nanoseconds, which is at most half the interval; a negative one ends the program.
    func possibleTolerance(_ tolerance: Duration) -> Int64 {
        if tolerance < .zero {
            misuse(
                "Timer.tolerance: \(tolerance) is negative; a timer never fires early, so use zero or more"
            )
        }
        let nanoseconds = tolerance.nanosecondsRoundedUp
        return interval > 0 ? min(nanoseconds, interval / 2) : nanoseconds
    }
}

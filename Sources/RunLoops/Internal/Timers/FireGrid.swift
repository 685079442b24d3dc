/// The dates of a repeating timer, which lie on a grid defined by its first date and its interval.
enum FireGrid {
    /// Returns the last date on the grid that is not after `now`, or `date` if `date` is after `now`.
    ///
    /// - Parameters:
    ///   - date: A date on the grid.
    ///   - interval: The interval in nanoseconds; more than zero.
    ///   - now: The moment to compare the dates with.
    /// - Returns: The date.
    static func latest(from date: Moment, interval: Int64, now: Moment) -> Moment {
        if now < date { return date }
        return now.advanced(by: -Int64(sinceLast(date, interval, now).remainder))
    }

    /// Returns the date of a repeating timer's next fire, and the number of dates that the timer skips.
    ///
    /// The next date is the first date on the grid that is after both `date` and `now`.
    ///
    /// - Parameters:
    ///   - date: The date on the grid for which the timer has just fired.
    ///   - interval: The interval in nanoseconds; more than zero.
    ///   - now: The moment at which the handler of that fire returned.
    /// - Returns: The next date, and the number of skipped dates.
    static func next(after date: Moment, interval: Int64, now: Moment) -> (date: Moment, missed: Int) {
        if now < date { return (date.advanced(by: interval), 0) }
        let (missed, sinceLast) = sinceLast(date, interval, now)
        return (now.advanced(by: interval - Int64(sinceLast)), Int(clamping: missed))
    }

    /// The number of whole intervals that have passed since a date, and the time since the last of these intervals ended.
    private static func sinceLast(_ date: Moment, _ interval: Int64, _ now: Moment)
        -> (quotient: UInt64, remainder: UInt64)
    {
        // The difference is unsigned because the time from the distant past until now can exceed the range of an `Int64`.
        UInt64(bitPattern: now.nanoseconds &- date.nanoseconds).quotientAndRemainder(
            dividingBy: UInt64(interval))
    }
}

/// The dates of a repeating timer: the grid of its first date and its interval.
enum FireGrid {
    /// The last date on the grid that is not after `now`; a date after `now` itself.
    ///
    /// - Parameters:
    ///   - date: A date on the grid.
    ///   - interval: Nanoseconds; more than zero.
    ///   - now: The moment.
    /// - Returns: The date.
    static func latest(from date: Moment, interval: Int64, now: Moment) -> Moment {
        if now < date { return date }
        return now.advanced(by: -Int64(sinceLast(date, interval, now).remainder))
    }

    /// The first date on the grid after `now`, and the number of dates before it that were passed over.
    ///
    /// - Parameters:
    ///   - date: A date on the grid; the fire that is over.
    ///   - interval: Nanoseconds; more than zero.
    ///   - now: The moment at which the fire was over.
    /// - Returns: Both.
    static func next(after date: Moment, interval: Int64, now: Moment) -> (date: Moment, missed: Int) {
        if now < date { return (date.advanced(by: interval), 0) }
        let (missed, sinceLast) = sinceLast(date, interval, now)
        return (now.advanced(by: interval - Int64(sinceLast)), Int(clamping: missed))
    }

    /// The number of whole intervals that have passed since a date, and the time since the last of them.
    private static func sinceLast(_ date: Moment, _ interval: Int64, _ now: Moment)
        -> (quotient: UInt64, remainder: UInt64)
    {
        // Unsigned: from the distant past until now is more than an `Int64` can count.
        UInt64(bitPattern: now.nanoseconds &- date.nanoseconds).quotientAndRemainder(
            dividingBy: UInt64(interval))
    }
}

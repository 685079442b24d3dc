/// When a repeating timer fires next: the grid of its first date and its interval.
enum FireGrid {
    /// The first date on the grid after `now`, and how many before it were passed over.
    ///
    /// - Parameters:
    ///   - date: A date on the grid; the fire that is over.
    ///   - interval: Nanoseconds; more than zero.
    ///   - now: When the fire was over.
    /// - Returns: Both.
    static func next(after date: Moment, interval: Int64, now: Moment) -> (date: Moment, missed: Int) {
        if now < date { return (date.advanced(by: interval), 0) }
        let missed = (now.nanoseconds - date.nanoseconds) / interval
        let (span, overflow) = interval.multipliedReportingOverflow(by: missed + 1)
        return (overflow ? .never : date.advanced(by: span), Int(missed))
    }
}

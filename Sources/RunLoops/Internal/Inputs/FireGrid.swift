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
        // Unsigned: from the distant past until now is more than an `Int64` can count.
        let late = UInt64(bitPattern: now.nanoseconds &- date.nanoseconds)
        let (missed, sinceLast) = late.quotientAndRemainder(dividingBy: UInt64(interval))
        return (now.advanced(by: interval - Int64(sinceLast)), Int(clamping: missed))
    }
}

public import Foundation
public import RunLoops

extension WallClockTimer {
    /// The date of the next fire; nil before the first date was computed, inside the handler, and after the end.
    public var fireDate: Date? {
        // The property of this module hides the other one here.
        let time: Duration? = self.RunLoops::fireDate
        return time.map { Date($0) }
    }

    /// Makes a timer that fires at dates which a closure computes, for example with a `Calendar`.
    ///
    /// ```swift
    /// let timer = WallClockTimer { date in
    ///     Calendar.current.nextDate(after: date, matching: DateComponents(hour: 3), matchingPolicy: .nextTime)
    /// } handler: { _ in
    ///     rotateLogs()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - nextDate: Called on the loop's thread with a date. It returns the first date after that date, or nil to end the timer.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the timer.
    public convenience init(
        nextDate: @escaping (Date) -> Date?, fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (WallClockTimer) -> Void
    ) {
        let next: (Duration) -> Duration? = { time in
            let present = Date(time)
            guard let date = nextDate(present) else { return nil }
            let found = Duration(date, for: "WallClockTimer.init")
            if found > time { return found }
            // A date holds the time only to some hundred nanoseconds, so `present` can be earlier than the time.
            return nextDate(present + 1e-6).map { Duration($0, for: "WallClockTimer.init") }
        }
        self.init(nextDate: next, fileID: fileID, line: line, handler: handler)
    }

    /// Makes a timer that fires once, when the wall clock has reached a date.
    ///
    /// - Parameters:
    ///   - date: The date. If it has passed, the timer fires at once.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the timer.
    public convenience init(
        fireAt date: Date, fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (WallClockTimer) -> Void
    ) {
        self.init(
            fireAt: Duration(date, for: "WallClockTimer.init"), fileID: fileID, line: line, handler: handler)
    }
}

extension Duration {
    /// The seconds from 1970 to the reference date of Foundation, 2001.
    private static var referenceDate: Int64 { Int64(Date.timeIntervalBetween1970AndReferenceDate) }

    /// Makes the time since 1970 of a date, rounded up to a whole nanosecond.
    ///
    /// The year of a date is limited to some thirty thousand years from now.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - member: The name of the public member that received the date, for the error message.
    fileprivate init(_ date: Date, for member: StaticString) {
        let interval = date.timeIntervalSinceReferenceDate
        if interval.isNaN { misuse("\(member): the date is not a number") }
        let whole = min(max(interval, -1e12), 1e12).rounded(.down)
        let fraction = interval == whole ? 0 : min(max(interval - whole, 0), 1)
        let nanoseconds = Int64((fraction * 1e9).rounded(.up))
        self = .seconds(Int64(whole) + Duration.referenceDate) + .nanoseconds(nanoseconds)
    }

    fileprivate var sinceReferenceDate: TimeInterval {
        (self - .seconds(Duration.referenceDate)) / .seconds(1)
    }
}

extension Date {
    /// Makes the date of a time since 1970, to some hundred nanoseconds.
    fileprivate init(_ time: Duration) { self.init(timeIntervalSinceReferenceDate: time.sinceReferenceDate) }
}

internal import Foundation
internal import RunLoops

extension ContinuousClock.Instant {
    /// Converts a date to an instant, in whole nanoseconds, by the present time of the wall clock.
    ///
    /// A date that is 9 × 10⁹ seconds (some 285 years) away or more becomes the distant future or the distant past.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - member: The name of the public member that received the date, for the error message.
    init(_ date: Date, for member: StaticString) {
        let left = date.timeIntervalSinceNow
        if left.isNaN { misuse("\(member): the date is not a number") }
        let farthest: TimeInterval = 9e9
        if left >= farthest {
            self = .distantFuture
        } else if left <= -farthest {
            self = .distantPast
        } else {
            self = Moment(.now.advanced(by: Duration(left, for: member))).instant
        }
    }
}

/// A date of the wall clock, and the instant to which it corresponded when it was set.
///
/// The pair never changes.
final class WallClockDate {
    private let date: Date
    private let instant: ContinuousClock.Instant

    /// Makes a pair from a date that was set and the instant to which it corresponds.
    init(_ date: Date, meaning instant: ContinuousClock.Instant) {
        self.date = date
        self.instant = instant
    }

    /// Makes a pair from an instant and its date, which is computed from the present time of the wall clock.
    convenience init(at instant: ContinuousClock.Instant) {
        let left = ContinuousClock.Instant.now.duration(to: instant)
        self.init(Date(timeIntervalSinceNow: left.interval), meaning: instant)
    }

    /// Returns the date to which an instant corresponds.
    ///
    /// For the pair's own instant, the result is exactly the pair's date.
    func date(of other: ContinuousClock.Instant) -> Date {
        if other == instant { return date }
        if other == .distantFuture { return .distantFuture }
        if other == .distantPast { return .distantPast }
        return date.addingTimeInterval(instant.duration(to: other).interval)
    }
}

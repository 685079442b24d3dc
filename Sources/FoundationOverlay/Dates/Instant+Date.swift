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
/// The values never change.
final class WallClockDate: Sendable {
    let date: Date
    private let instant: ContinuousClock.Instant
    /// The instant of the fire that was planned for the date, which is later than `instant` if a repeating timer's date had passed.
    private let planned: ContinuousClock.Instant

    /// Makes a pair from a date that was set, the instant to which it corresponds, and the instant that was planned for it.
    init(_ date: Date, meaning instant: ContinuousClock.Instant, planned: ContinuousClock.Instant) {
        self.date = date
        self.instant = instant
        self.planned = planned
    }

    /// Makes a pair from an instant and its date, which is computed from the present time of the wall clock.
    init(at instant: ContinuousClock.Instant) {
        let left = ContinuousClock.Instant.now.duration(to: instant)
        date = WallClockDate.distant(instant) ?? Date(timeIntervalSinceNow: left.interval)
        self.instant = instant
        planned = instant
    }

    /// Returns the date to which an instant corresponds; nil if it cannot be counted from this pair.
    ///
    /// For the planned instant, the result is exactly the pair's date. A date that no loop can reach stands for the distant future
    /// or the distant past, so no other date can be counted from it.
    func date(of other: ContinuousClock.Instant) -> Date? {
        if other == planned { return date }
        if let date = WallClockDate.distant(other) { return date }
        if WallClockDate.distant(instant) != nil { return nil }
        return date.addingTimeInterval(instant.duration(to: other).interval)
    }

    /// The date of an instant that stands for never, or for long ago; nil for every other instant.
    private static func distant(_ instant: ContinuousClock.Instant) -> Date? {
        if instant >= .distantFuture { return .distantFuture }
        return instant <= .distantPast ? .distantPast : nil
    }
}

public import Foundation
public import RunLoops

public import class RunLoops.Timer

extension Timer {
    /// The date of the next fire.
    ///
    /// When you set a date, it is converted to an instant immediately. A later change of the wall clock changes neither the time of
    /// the fire nor this property, which still returns exactly the date that you set. The dates of later fires are computed from
    /// that date.
    ///
    /// `Date.distantFuture` suspends the timer without invalidating it. Setting the date of an invalid timer does nothing.
    ///
    /// On another thread than that of the timer's loop, the loop takes the date in its next pass, and the property returns the date
    /// at once.
    ///
    /// > Thread safety: any thread.
    public var fireDate: Date {
        get { PublishedTimer.of(self).date(of: self) }
        set {
            let instant = ContinuousClock.Instant(newValue, for: "Timer.fireDate")
            if !isValid { return }
            let published = PublishedTimer.of(self)
            published.announce(date: newValue)
            change { [self] in
                fireInstant = instant
                published.take(WallClockDate(newValue, meaning: instant, planned: fireInstant))
            }
        }
    }

    /// Makes a timer that first fires at a date.
    ///
    /// - Parameters:
    ///   - date: The date of the first fire, which is converted to an instant now. If the date has passed, the timer fires
    ///     immediately. The later fires of a repeating timer are still due at this date plus multiples of the interval.
    ///   - interval: The seconds between fires, if it repeats. Zero or less means every 100 µs.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: Called on the loop's thread with the timer.
    public convenience init(
        fire date: Date, interval: TimeInterval, repeats: Bool, fileID: StaticString = #fileID,
        line: Int = #line, block: @escaping (Timer) -> Void
    ) {
        let instant = ContinuousClock.Instant(date, for: "Timer.init")
        self.init(
            fireAt: instant, interval: Duration(interval, for: "Timer.init"), repeats: repeats,
            fileID: fileID,
            line: line, block: block)
        PublishedTimer.of(self).begin(with: WallClockDate(date, meaning: instant, planned: fireInstant))
    }
}

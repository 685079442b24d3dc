internal import Foundation
internal import RunLoops

internal import class RunLoops.Timer

/// The dates and the tolerance of a timer as every thread reads them: what was set last, also if the loop has not taken it yet.
///
/// A thread that changes a timer of another thread's loop hands the change over. The change is announced here first, and is the
/// timer's own as soon as the loop has made it.
///
/// > Thread safety: any thread.
final class PublishedTimer: Sendable {
    private struct State: Sendable {
        /// The date from which the date of the next fire is counted; nil if none was set or counted yet.
        var counted: WallClockDate?
        var date = Announced<Date>()
        var tolerance = Announced<TimeInterval>()
    }

    /// A value that was set, and the number of times that it was set and the loop has not taken it yet.
    private struct Announced<Value: Sendable>: Sendable {
        private var latest: Value?
        private var count = 0

        /// The value that was set last; nil if the loop has taken it.
        var pending: Value? { count > 0 ? latest : nil }

        mutating func announce(_ value: Value) {
            latest = value
            count += 1
        }

        mutating func take() { count -= 1 }
    }

    private let state = Guarded(State())

    /// Returns what is published of a timer.
    static func of(_ timer: Timer) -> PublishedTimer {
        guard let published = timer.companion({ PublishedTimer() }) as? PublishedTimer else {
            preconditionFailure("a timer has no other companion")
        }
        return published
    }

    // MARK: - The date

    /// The date of the timer's next fire.
    func date(of timer: Timer) -> Date {
        state.withLock { state in
            if let date = state.date.pending { return date }
            // The instant is read under the lock: if the loop has taken a date, it has stored the instant before that.
            let instant = timer.fireInstant
            if let date = state.counted?.date(of: instant) { return date }
            let new = WallClockDate(at: instant)
            state.counted = new
            return new.date
        }
    }

    /// Announces a date that is about to be handed over.
    func announce(date: Date) { state.withLock { $0.date.announce(date) } }

    /// Records that the date that was announced first is the timer's own date now.
    func take(_ date: WallClockDate) {
        state.withLock { state in
            state.date.take()
            state.counted = date
        }
    }

    /// Records the date with which a timer was made.
    func begin(with date: WallClockDate) { state.withLock { $0.counted = date } }

    // MARK: - The tolerance

    func tolerance(of timer: Timer) -> TimeInterval {
        state.withLock { $0.tolerance.pending ?? timer.toleranceDuration.interval }
    }

    /// Announces a tolerance that is about to be handed over.
    func announce(tolerance: TimeInterval) { state.withLock { $0.tolerance.announce(tolerance) } }

    /// Records that the tolerance that was announced first is the timer's own tolerance now.
    func takeTolerance() { state.withLock { $0.tolerance.take() } }
}

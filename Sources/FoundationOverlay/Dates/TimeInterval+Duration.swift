internal import Foundation
internal import RunLoops

extension Duration {
    /// Makes a duration from an interval in seconds, rounded to whole nanoseconds.
    ///
    /// The longest time that a loop can wait is some 292 years. A longer interval is shortened to this time.
    ///
    /// - Parameters:
    ///   - interval: The interval.
    ///   - member: The name of the public member that received the interval, for the error message.
    init(_ interval: TimeInterval, for member: StaticString) {
        if interval.isNaN { misuse("\(member): the interval is not a number; give it in seconds") }
        self = .nanoseconds(Int64(exactly: (interval * 1e9).rounded()) ?? (interval < 0 ? .min : .max))
    }

    /// The duration in seconds: the number of its whole nanoseconds, divided by 10⁹.
    var interval: TimeInterval {
        let nanoseconds = attoseconds / 1_000_000_000
        return TimeInterval(Int64(clamping: nanoseconds)) / 1e9
    }
}

internal import Dispatch

/// Timers one after the other, each asked for when the one before has fired, and how late each was.
final class AlarmSeries: @unchecked Sendable {
    // Safe because only the thread on which the timers fire touches what changes, until it signals the end.
    private var delays: [Int64] = []
    private var asked = 0
    private var elapsed: Int64 = 0
    private let length: Int64
    private let isOver = DispatchSemaphore(value: 0)

    /// Makes a series that ends when its timers' times add up to a length.
    init(length: Duration) {
        self.length = length.nanoseconds
        delays.reserveCapacity(Int(self.length / Self.shortest) + 1)
    }

    private static let shortest: Int64 = 300_000

    /// How long from now the next timer is to fire, in nanoseconds: never in step with anything else.
    func next() -> Int64 {
        let time = Self.shortest + Int64(asked * 37 % 64) * 20_000
        asked += 1
        elapsed += time
        return time
    }

    /// Notes that a timer has fired.
    ///
    /// - Parameter delay: How late, in nanoseconds; less than zero if it was early.
    /// - Returns: Whether another is wanted.
    func fired(late delay: Int64) -> Bool {
        delays.append(delay)
        if elapsed < length { return true }
        isOver.signal()
        return false
    }

    /// Waits for the end: how late each was.
    ///
    /// - Throws: If more or fewer fired than were asked for, or none for seconds.
    func wait() throws(Miscount) -> [Int64] {
        // After this long the thread still owns them.
        if isOver.wait(timeout: .now() + .seconds(120)) != .success { throw Miscount(expected: 1, found: 0) }
        try Miscount.check(expected: asked, found: delays.count)
        return delays
    }
}

internal import CFaults

/// Refused system calls, and counts of clock readings, for the calling thread.
public enum Faults {
    /// True with a sanitizer that makes the tests slower.
    public static var areSlow: Bool { faults_are_slow() }

    /// True if threads can be cancelled, which is false with the thread sanitizer.
    public static var bearCancelling: Bool { faults_bear_cancelling() }

    /// True if Swift works in a child that a process with busy threads has forked, which is false with the thread sanitizer.
    public static var bearForks: Bool { faults_bear_forks() }

    /// Makes the kernel refuse to watch further descriptors during a closure.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public static func refusingWatches<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_watches(code)
        defer { faults_refuse_watches(0) }
        return try body()
    }

    /// Makes the kernel refuse to watch descriptors for other events during a closure.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public static func refusingChanges<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_changes(code)
        defer { faults_refuse_changes(0) }
        return try body()
    }

    /// The number of calls with which the calling thread has changed or checked what the kernel watches.
    public static var watchCalls: Int { Int(faults_watch_calls()) }

    /// Makes the kernel refuse every pipe and every pair of sockets during a closure.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public static func refusingPipes<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_pipes(code)
        defer { faults_refuse_pipes(0) }
        return try body()
    }

    /// Makes the kernel refuse to listen during a closure.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public static func refusingListens<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_listens(code)
        defer { faults_refuse_listens(0) }
        return try body()
    }

    /// Makes the kernel refuse the next packets that the calling thread sends.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - times: The number of packets, or 0 to end the refusals.
    public static func refuseSends(_ code: CInt, times: Int) {
        faults_refuse(faults_sendmsg, code, CUnsignedInt(times))
    }

    /// The number of refusals that are left.
    public static var refusedSendsLeft: Int { Int(faults_interruptions_left(faults_sendmsg)) }

    /// Counts the uses of the wall clock by the calling thread during a closure.
    ///
    /// - Parameter body: The closure.
    /// - Returns: The number of times that the thread has read the clock, or made an object that waits by it.
    /// - Throws: The error of the closure.
    public static func wallClockUses(_ body: () throws -> Void) rethrows -> Int {
        let before = faults_wall_clock_uses()
        try body()
        return Int(faults_wall_clock_uses() - before)
    }
}

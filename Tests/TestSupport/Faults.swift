internal import CFaults

/// Refusals of the kernel, and counts of clock readings, for the calling thread.
public enum Faults {
    /// True if a sanitizer makes everything slower.
    public static var areSlow: Bool { faults_are_slow() }

    /// True if threads can be cancelled; false under the thread sanitizer.
    public static var bearCancelling: Bool { faults_bear_cancelling() }

    /// True if a child that is forked by a process with busy threads can use Swift; false under the thread sanitizer.
    public static var bearForks: Bool { faults_bear_forks() }

    /// Has the kernel refuse to watch any more descriptors, while something is done.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure that meets the refusals.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public static func refusingWatches<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_watches(code)
        defer { faults_refuse_watches(0) }
        return try body()
    }

    /// Has the kernel refuse to watch descriptors for other events, while something is done.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure that meets the refusals.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public static func refusingChanges<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_changes(code)
        defer { faults_refuse_changes(0) }
        return try body()
    }

    /// The number of times that the calling thread has told the kernel what to watch, or has asked if it watches something.
    public static var watchCalls: Int { Int(faults_watch_calls()) }

    /// Has the kernel refuse every pipe and every pair of sockets, while something is done.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure that meets the refusals.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public static func refusingPipes<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_pipes(code)
        defer { faults_refuse_pipes(0) }
        return try body()
    }

    /// Has the kernel refuse to listen, while something is done.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - body: The closure that meets the refusals.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public static func refusingListens<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_listens(code)
        defer { faults_refuse_listens(0) }
        return try body()
    }

    /// Has the kernel refuse the calling thread the next packets that it sends.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - times: The number of them; 0 to stop refusing.
    public static func refuseSends(_ code: CInt, times: Int) {
        faults_refuse(faults_sendmsg, code, CUnsignedInt(times))
    }

    /// The number of refusals that are still to come.
    public static var refusedSendsLeft: Int { Int(faults_interruptions_left(faults_sendmsg)) }

    /// Counts the uses of the wall clock by the calling thread in a closure.
    ///
    /// - Parameter body: The closure that it runs.
    /// - Returns: The number of times that it has read that clock, or made something that waits by it.
    /// - Throws: The error of the body.
    public static func wallClockUses(_ body: () throws -> Void) rethrows -> Int {
        let before = faults_wall_clock_uses()
        try body()
        return Int(faults_wall_clock_uses() - before)
    }
}

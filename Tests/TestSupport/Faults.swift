internal import CFaults
internal import Glibc

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

    /// Makes a timerfd report that the wall clock was set, and shifts the wall clock of the calling thread.
    ///
    /// The timerfd is readable, and the next read of the calling thread fails with `ECANCELED`.
    ///
    /// - Parameters:
    ///   - shift: The seconds by which the thread's wall clock differs from the true one from now on; 0 ends that.
    ///   - descriptor: The timerfd.
    /// - Returns: True if the descriptor is a timerfd.
    public static func setWallClock(shift: Int, reportedBy descriptor: CInt) -> Bool {
        faults_shift_wall_clock(shift)
        faults_refuse(faults_read, ECANCELED, 1)
        return faults_expire_timer(descriptor) == 0
    }

    /// Shifts the wall clock of the calling thread, without a report.
    ///
    /// - Parameter seconds: The difference from the true clock; 0 ends the shift.
    public static func shiftWallClock(by seconds: Int) { faults_shift_wall_clock(seconds) }
}

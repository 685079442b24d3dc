internal import CFaults

/// What the kernel refuses, and which clocks are looked at, in the calling thread.
public enum Faults {
    /// Whether a sanitizer makes everything slower.
    public static var areSlow: Bool { faults_are_slow() }

    /// Whether threads can be cancelled: not under the thread sanitizer.
    public static var bearCancelling: Bool { faults_bear_cancelling() }

    /// Has the kernel refuse to watch any more descriptors, while something is done.
    ///
    /// - Parameters:
    ///   - code: What it says.
    ///   - body: What is done.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    public static func refusingWatches<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_watches(code)
        defer { faults_refuse_watches(0) }
        return try body()
    }

    /// Has the kernel refuse every pipe and every pair of sockets, while something is done.
    ///
    /// - Parameters:
    ///   - code: What it says.
    ///   - body: What is done.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    public static func refusingPipes<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_pipes(code)
        defer { faults_refuse_pipes(0) }
        return try body()
    }

    /// Has the kernel refuse to listen, while something is done.
    ///
    /// - Parameters:
    ///   - code: What it says.
    ///   - body: What is done.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    public static func refusingListens<Result>(_ code: CInt, _ body: () throws -> Result) rethrows -> Result {
        faults_refuse_listens(code)
        defer { faults_refuse_listens(0) }
        return try body()
    }

    /// Has the kernel refuse the calling thread the next packets that it sends.
    ///
    /// - Parameters:
    ///   - code: What it says.
    ///   - times: How many; 0 for none any more.
    public static func refuseSends(_ code: CInt, times: Int) {
        faults_refuse(faults_sendmsg, code, CUnsignedInt(times))
    }

    /// How many it will still refuse.
    public static var refusedSendsLeft: Int { Int(faults_interruptions_left(faults_sendmsg)) }

    /// How often the calling thread uses the wall clock while it does something.
    ///
    /// - Parameter body: What it does.
    /// - Returns: How often it has read that clock, or made something that waits by it.
    /// - Throws: What the body throws.
    public static func wallClockUses(_ body: () throws -> Void) rethrows -> Int {
        let before = faults_wall_clock_uses()
        try body()
        return Int(faults_wall_clock_uses() - before)
    }
}

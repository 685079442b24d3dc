/// The last sample of a transfer's progress, with which the next sample is compared to find out if the transfer is idle.
///
/// libcurl's own speed limit does not suit: it counts in whole seconds and averages over five seconds, so it would end a transfer
/// that receives a byte every ten seconds.
struct IdleWatch {
    /// The progress in the last sample.
    private var progress: Int64 = -1
    /// The instant from which idle time counts; nil before the first sample.
    ///
    /// This is the instant of the last sample that does not count as idle. Such a sample shows progress, is taken before the
    /// request is sent, or is taken while the transfer waits for code of this process.
    private var since: ContinuousClock.Instant?

    /// Takes a sample of a transfer, and compares it with the previous sample.
    ///
    /// - Parameters:
    ///   - progress: A number that changes when bytes are sent or received; -1 before the request is sent.
    ///   - isHeld: True if the transfer waits for code of this process, so that the waiting time does not count.
    ///   - limit: The time without progress that makes a transfer idle.
    ///   - now: The current instant.
    /// - Returns: True if the transfer is idle.
    mutating func isIdle(progress: Int64, isHeld: Bool, limit: Duration, now: ContinuousClock.Instant) -> Bool
    {
        if progress != self.progress || progress < 0 || isHeld {
            self.progress = progress
            since = now
            return false
        }
        return since.map { now - $0 >= limit } ?? false
    }

    /// Returns the time from one sample to the next, which depends on the limit on idle time.
    static func interval(of limit: Duration) -> Duration { max(limit / 8, .milliseconds(1)) }
}

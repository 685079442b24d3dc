/// Finds out from samples of a transfer's progress if the transfer is idle.
///
/// libcurl's own speed limit has a resolution of one second and averages over five seconds, so it would end a transfer that
/// receives a byte every ten seconds.
struct IdleWatch {
    /// The progress of the last sample.
    private var progress: Int64 = -1
    /// The date of the last sample that showed progress, or for which time did not count.
    private var since: ContinuousClock.Instant?

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - progress: A number that differs when bytes were sent or received; -1 before the request is sent.
    ///   - isHeld: True if the transfer waits for code on this side.
    ///   - limit: The time without progress that makes a transfer idle.
    ///   - now: The date.
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

    /// The time between two samples.
    static func interval(of limit: Duration) -> Duration { max(limit / 8, .milliseconds(1)) }
}

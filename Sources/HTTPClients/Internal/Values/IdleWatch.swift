/// The last sample of a transfer's progress; comparing it with the next sample shows whether the transfer is idle.
///
/// libcurl's own speed limit has a resolution of one second and averages over five seconds, so it would end a transfer that
/// receives a byte every ten seconds.
struct IdleWatch {
    /// The progress of the last sample.
    private var progress: Int64 = -1
    /// The instant of the last sample at which the transfer had made progress or was held.
    private var since: ContinuousClock.Instant?

    /// Takes a sample.
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

    /// The time between two samples.
    static func interval(of limit: Duration) -> Duration { max(limit / 8, .milliseconds(1)) }
}

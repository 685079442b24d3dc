/// Exponential backoff up to a limit, for when the kernel offers no readiness event.
package struct ExponentialBackoff: Hashable, Sendable {
    private let shortest: Duration
    private let longest: Duration
    private var next: Duration

    package init(from shortest: Duration, to longest: Duration) {
        self.shortest = max(shortest, .zero)
        self.longest = max(longest, .zero)
        next = self.shortest
    }

    /// Returns the pause before the next try, and doubles it for the try after that.
    package mutating func begin() -> Duration {
        // The next pause is compared before it is doubled, because doubling a pause that a user has given could overflow.
        defer { next = next > longest / 2 ? max(longest, shortest) : next * 2 }
        return next
    }

    /// Starts again with the shortest pause, because a try has succeeded or is likely to succeed.
    package mutating func reset() { next = shortest }

    /// The pause before a loop tries again to watch descriptors that the kernel has refused to watch.
    static var rewatching: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(1), to: .seconds(1)) }
}

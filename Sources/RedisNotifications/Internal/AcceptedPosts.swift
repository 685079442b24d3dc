internal import DequeModule

/// The posts that the server has accepted, until the center need not keep them any longer.
///
/// A pure value. Numbers that were accepted within a tenth of a second form one group, with the time of the last.
struct AcceptedPosts: Hashable, Sendable {
    private struct Group: Hashable, Sendable {
        var number: UInt64
        let began: ContinuousClock.Instant
        var ended: ContinuousClock.Instant
    }

    private let retention: Duration
    private var groups: Deque<Group> = []
    private(set) var accepted: UInt64 = 0
    private(set) var settled: UInt64 = 0

    init(retention: Duration) { self.retention = retention }

    /// Records that the server has a post.
    mutating func accept(_ number: UInt64, now: ContinuousClock.Instant) {
        if number <= accepted { return }
        accepted = number
        if retention == .zero {
            settled = number
        } else if let last = groups.last, now - last.began < .milliseconds(100) {
            groups[groups.count - 1].number = number
            groups[groups.count - 1].ended = now
        } else {
            groups.append(Group(number: number, began: now, ended: now))
        }
    }

    /// The time at which the next posts are settled, or nil if none waits.
    var due: ContinuousClock.Instant? { groups.first.map { $0.ended + retention } }

    /// Settles the posts that have been kept long enough.
    ///
    /// - Returns: True if a post was settled.
    mutating func settle(now: ContinuousClock.Instant) -> Bool {
        var changes = false
        while let first = groups.first, first.ended + retention <= now {
            settled = first.number
            groups.removeFirst()
            changes = true
        }
        return changes
    }

    /// Starts again on a new connection, on which the center sends again all posts that are not settled.
    mutating func restart() {
        groups.removeAll()
        accepted = settled
    }
}

internal import DequeModule

/// The posts that the server has accepted and that the center still has to keep.
///
/// A pure value. The posts are kept in groups. To keep the number of groups small, the posts that are accepted within a tenth of a
/// second form one group, unless the group would get too large. All posts of a group are kept for as long as the group's last post.
struct AcceptedPosts: Hashable, Sendable {
    /// The time for which posts are kept, and the limits on their number and their total size in bytes.
    struct Limits: Hashable, Sendable {
        var time: Duration
        var posts: Int
        var bytes: Int
    }

    private struct Group: Hashable, Sendable {
        var number: UInt64
        let began: ContinuousClock.Instant
        var ended: ContinuousClock.Instant
        var posts: Int
        var bytes: Int
    }

    private let limits: Limits
    private var groups: Deque<Group> = []
    /// The number of posts in all groups.
    private var posts = 0
    /// The total size of the posts in all groups, in bytes.
    private var bytes = 0
    private(set) var accepted: UInt64 = 0
    private(set) var settled: UInt64 = 0

    init(_ limits: Limits) { self.limits = limits }

    /// Records that the server has accepted all posts up to `number`.
    mutating func accept(_ number: UInt64, posts: Int, bytes: Int, now: ContinuousClock.Instant) {
        if number <= accepted { return }
        accepted = number
        if limits.time == .zero {
            settled = number
            return
        }
        if let last = groups.last, now - last.began < .milliseconds(100), isSmall(last) {
            groups[groups.count - 1].number = number
            groups[groups.count - 1].ended = now
            groups[groups.count - 1].posts += posts
            groups[groups.count - 1].bytes += bytes
        } else {
            groups.append(Group(number: number, began: now, ended: now, posts: posts, bytes: bytes))
        }
        self.posts += posts
        self.bytes += bytes
        while self.posts > limits.posts || self.bytes > limits.bytes { settleFirst() }
    }

    /// Returns true if more posts can join a group.
    ///
    /// When the kept posts exceed a limit, the whole oldest group is settled early. Because groups stay small, only a few posts
    /// are then settled early.
    private func isSmall(_ group: Group) -> Bool {
        group.posts < limits.posts / 16 && group.bytes < limits.bytes / 16
    }

    private mutating func settleFirst() {
        let first = groups.removeFirst()
        posts -= first.posts
        bytes -= first.bytes
        settled = first.number
    }

    /// The earliest time at which ``settle(now:)`` settles the oldest group of posts; nil if there is no group.
    var due: ContinuousClock.Instant? { groups.first.map { $0.ended + limits.time } }

    /// Settles the posts that have been kept long enough, so that the center need not keep them any longer.
    ///
    /// - Returns: True if a post was settled.
    mutating func settle(now: ContinuousClock.Instant) -> Bool {
        var changes = false
        while let first = groups.first, first.ended + limits.time <= now {
            settleFirst()
            changes = true
        }
        return changes
    }

    /// Forgets the posts that are accepted but not settled, because a new connection begins.
    ///
    /// On the new connection, the center resends all posts that are not settled.
    mutating func restart() {
        groups.removeAll()
        (posts, bytes) = (0, 0)
        accepted = settled
    }
}

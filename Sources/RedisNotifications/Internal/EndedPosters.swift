internal import DistributedNotifications

/// The posters that have ended, but of which the stream can still have entries.
///
/// A pure value. The ends of posters are numbered in the order in which the engine has read them. When the engine reads the stream
/// again from the start, it skips the posters whose ends were read before.
struct EndedPosters: Hashable, Sendable {
    /// The ID of the entry that records a poster's end, and the number of this end in the order of reading.
    private struct End: Hashable, Sendable {
        let id: EntryID
        let count: UInt64
    }

    /// The number of remembered ends above which ``prune(before:)`` forgets old ends.
    private static let most = 4_096

    private var ends: [PosterID: End] = [:]
    /// The number of posters whose ends were read.
    private(set) var count: UInt64 = 0

    /// Records that the end of a poster was read from the entry with an ID.
    mutating func note(_ poster: PosterID, at id: EntryID) {
        if ends[poster] != nil { return }
        count += 1
        ends[poster] = End(id: id, count: count)
    }

    /// Returns true if a poster's end was among the first `count` ends that were read.
    func contains(_ poster: PosterID, amongFirst count: UInt64) -> Bool {
        ends[poster].map { $0.count <= count } ?? false
    }

    /// If more than ``most`` ends are remembered, forgets the ends whose entries the stream no longer has.
    mutating func prune(before first: EntryID) {
        if ends.count > EndedPosters.most { ends = ends.filter { $0.value.id >= first } }
    }
}

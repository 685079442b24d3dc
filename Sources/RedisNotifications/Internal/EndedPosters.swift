internal import DistributedNotifications

/// The ended posters whose entries can still be in the stream.
///
/// A pure value. The engine numbers the ends of posters in the order in which it reads them. When the engine reads the stream
/// again from the start, it skips the posters whose ends were read before.
struct EndedPosters: Hashable, Sendable {
    /// The end of a poster: the ID of the entry that records the end, and the number of the end.
    private struct End: Hashable, Sendable {
        let id: EntryID
        let count: UInt64
    }

    /// The number of remembered ends above which ``prune(before:)`` forgets ends.
    private static let most = 4_096

    private var ends: [PosterID: End] = [:]
    /// The number of ends of posters that the engine has read.
    private(set) var count: UInt64 = 0

    /// Records that the engine has read the end of a poster, in the entry with the given ID.
    mutating func note(_ poster: PosterID, at id: EntryID) {
        if ends[poster] != nil { return }
        count += 1
        ends[poster] = End(id: id, count: count)
    }

    /// Returns true if a poster's end is one of the first `count` ends that the engine has read.
    func contains(_ poster: PosterID, amongFirst count: UInt64) -> Bool {
        ends[poster].map { $0.count <= count } ?? false
    }

    /// Forgets the ends whose entries have left the stream, if the number of remembered ends exceeds ``most``.
    mutating func prune(before first: EntryID) {
        if ends.count > EndedPosters.most { ends = ends.filter { $0.value.id >= first } }
    }
}

internal import DistributedNotifications

/// The ended posters whose entries can still be in the stream.
///
/// This is a value without side effects. The engine numbers the ends of posters in the order in which it reads them. When the
/// engine reads the stream again from the start, it skips the posters whose ends it has read before.
struct EndedPosters: Hashable, Sendable {
    /// The end of a poster: the ID of the entry that records the end, and the number of the end.
    private struct End: Hashable, Sendable {
        let id: EntryID
        let count: UInt64
    }

    /// The maximum number of stored ends for which ``prune(before:)`` removes nothing.
    private static let most = 4_096

    private var ends: [PosterID: End] = [:]
    /// The number of posters whose end the engine has read.
    private(set) var count: UInt64 = 0

    /// Records that the engine has read the end of a poster, in the entry with the given ID.
    mutating func note(_ poster: PosterID, at id: EntryID) {
        if ends[poster] != nil { return }
        count += 1
        ends[poster] = End(id: id, count: count)
    }

    /// Returns true if the engine has read the end of a poster, and the number of that end is at most `count`.
    func contains(_ poster: PosterID, amongFirst count: UInt64) -> Bool {
        ends[poster].map { $0.count <= count } ?? false
    }

    /// Removes each end whose entry is no longer in the stream, if more than ``most`` ends are stored.
    mutating func prune(before first: EntryID) {
        if ends.count > EndedPosters.most { ends = ends.filter { $0.value.id >= first } }
    }
}

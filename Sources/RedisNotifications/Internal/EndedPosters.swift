internal import DistributedNotifications

/// The ended posters whose entries the stream can still have, in the order in which the engine has read their ends.
///
/// A pure value. When an engine reads the stream again from the start, it skips the posters that had ended before.
struct EndedPosters: Hashable, Sendable {
    /// The ID of the entry of a poster's end, and the number of the end.
    private struct End: Hashable, Sendable {
        let id: EntryID
        let count: UInt64
    }

    /// The number of ends beyond which the ends whose entries were removed from the stream are forgotten.
    private static let most = 4_096

    private var ends: [PosterID: End] = [:]
    /// The number of ends that were read.
    private(set) var count: UInt64 = 0

    /// Notes the end of a poster.
    mutating func note(_ poster: PosterID, at id: EntryID) {
        if ends[poster] != nil { return }
        count += 1
        ends[poster] = End(id: id, count: count)
    }

    /// Returns true if a poster's end was among the first ends that were read.
    func contains(_ poster: PosterID, amongFirst count: UInt64) -> Bool {
        ends[poster].map { $0.count <= count } ?? false
    }

    /// Forgets ends before the first entry of the stream, if there are many.
    mutating func prune(before first: EntryID) {
        if ends.count > EndedPosters.most { ends = ends.filter { $0.value.id >= first } }
    }
}

/// The posters that a center knows, and those of them that have not been reported since the last connection began.
///
/// A pure value.
struct KnownPosters: Hashable, Sendable {
    private(set) var known: Set<PosterID> = []
    /// The known posters that the engine has not reported on this connection.
    private(set) var inDoubt: Set<PosterID> = []

    /// Notes that a connection begins.
    ///
    /// - Returns: The posters to ask for.
    mutating func connect() -> [PosterID] {
        inDoubt = known
        return known.sorted()
    }

    /// Notes that the engine has reported a poster.
    mutating func note(_ poster: PosterID) {
        known.insert(poster)
        if !inDoubt.isEmpty { inDoubt.remove(poster) }
    }

    /// Notes that a poster has ended.
    mutating func end(_ poster: PosterID) {
        known.remove(poster)
        inDoubt.remove(poster)
    }

    /// Forgets the posters that are still in doubt, because the grace period is over.
    ///
    /// - Returns: Those posters.
    mutating func giveUp() -> [PosterID] {
        defer {
            known.subtract(inDoubt)
            inDoubt = []
        }
        return inDoubt.sorted()
    }
}

/// The posters that a center has heard of, and those whose fate is in doubt since the connection began anew.
///
/// A pure value.
struct KnownPosters: Hashable, Sendable {
    private(set) var known: Set<PosterID> = []
    /// The posters that are known from before this connection, and that this connection has not told of.
    private(set) var inDoubt: Set<PosterID> = []

    /// A connection begins.
    ///
    /// - Returns: The posters to ask for.
    mutating func connect() -> [PosterID] {
        inDoubt = known
        return known.sorted()
    }

    /// The engine has told of a poster.
    mutating func note(_ poster: PosterID) {
        known.insert(poster)
        if !inDoubt.isEmpty { inDoubt.remove(poster) }
    }

    /// A poster has ended.
    mutating func end(_ poster: PosterID) {
        known.remove(poster)
        inDoubt.remove(poster)
    }

    /// The grace period is over: what is still in doubt is given up.
    ///
    /// - Returns: The posters that are given up.
    mutating func giveUp() -> [PosterID] {
        defer {
            known.subtract(inDoubt)
            inDoubt = []
        }
        return inDoubt.sorted()
    }
}

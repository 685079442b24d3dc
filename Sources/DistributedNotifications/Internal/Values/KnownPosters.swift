/// The posters that a center knows.
///
/// Some of them are in doubt: the engine has not reported them since the most recent connection began. This is a pure value.
struct KnownPosters: Hashable, Sendable {
    private(set) var known: Set<PosterID> = []
    /// The known posters that the engine has not reported since the most recent connection began.
    private(set) var inDoubt: Set<PosterID> = []
    /// A cache of the poster that the engine reported last, because one poster often posts several times in a row.
    ///
    /// It is nil before the first report, and again when any poster has ended or was forgotten.
    private var latest: PosterID?

    /// Notes that a connection begins.
    ///
    /// - Returns: The posters to ask the engine about.
    mutating func connect() -> [PosterID] {
        inDoubt = known
        return known.sorted()
    }

    /// Notes that the engine has reported a poster.
    mutating func note(_ poster: PosterID) {
        if poster == latest && inDoubt.isEmpty { return }
        latest = poster
        known.insert(poster)
        if !inDoubt.isEmpty { inDoubt.remove(poster) }
    }

    /// Notes that a poster has ended.
    mutating func end(_ poster: PosterID) {
        known.remove(poster)
        inDoubt.remove(poster)
        latest = nil
    }

    /// Forgets the posters in ``inDoubt``, because the grace period is over.
    ///
    /// - Returns: The forgotten posters.
    mutating func giveUp() -> [PosterID] {
        defer {
            known.subtract(inDoubt)
            latest = nil
            inDoubt = []
        }
        return inDoubt.sorted()
    }
}

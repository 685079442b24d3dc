/// The posters that a center knows.
///
/// Some of them are in doubt: the engine has not reported them since the most recent connection began. This is a pure value.
///
/// The hub, or the other processes, decide how many posters there are. So beyond a limit the posters are forgotten, and are in doubt
/// together when the next connection begins.
struct KnownPosters: Hashable, Sendable {
    /// The maximum number of known posters; more than a hub serves at a time, with those that have ended.
    static let most = 16_384
    /// The maximum number of posters that are given up one by one.
    static let mostGivenUp = 1_024

    private(set) var known: Set<PosterID> = []
    /// The known posters that the engine has not reported since the most recent connection began.
    private(set) var inDoubt: Set<PosterID> = []
    /// The posters that were forgotten because there were too many.
    private enum Forgotten: Hashable, Sendable {
        case none
        /// Some were forgotten on this connection, so they are in doubt when the next one begins.
        case known
        /// Some were forgotten, and are in doubt.
        case inDoubt
    }
    private var forgotten = Forgotten.none
    /// A cache of the poster that the engine reported last, because one poster often posts several times in a row.
    ///
    /// It is nil before the first report, and again when any poster has ended or was forgotten.
    private var latest: PosterID?

    /// True if posters are in doubt, so that there is something to give up.
    var hasDoubts: Bool { !inDoubt.isEmpty || forgotten == .inDoubt }

    /// Notes that a connection begins.
    ///
    /// - Returns: The posters to ask the engine about.
    mutating func connect() -> [PosterID] {
        inDoubt = known
        switch forgotten {
        case .none: break
        case .known, .inDoubt: forgotten = .inDoubt
        }
        return known.sorted()
    }

    /// Notes that the engine has reported a poster.
    mutating func note(_ poster: PosterID) {
        if poster == latest && inDoubt.isEmpty { return }
        latest = poster
        if known.insert(poster).inserted, known.count > KnownPosters.most { forgetAll(but: poster) }
        if !inDoubt.isEmpty { inDoubt.remove(poster) }
    }

    private mutating func forgetAll(but poster: PosterID) {
        known = [poster]
        // Posters that were in doubt stay so, together.
        let isInDoubt = hasDoubts
        inDoubt = []
        forgotten = isInDoubt ? .inDoubt : .known
    }

    /// Notes that a poster has ended.
    mutating func end(_ poster: PosterID) {
        known.remove(poster)
        inDoubt.remove(poster)
        latest = nil
    }

    /// Forgets the posters in ``inDoubt``, because the grace period is over.
    ///
    /// - Returns: The forgotten posters. An unknown poster stands for posters that are not named.
    mutating func giveUp() -> [PosterID] {
        defer {
            known.subtract(inDoubt)
            latest = nil
            inDoubt = []
            if forgotten == .inDoubt { forgotten = .none }
        }
        if inDoubt.count > KnownPosters.mostGivenUp { return [.unknown] }
        return inDoubt.sorted() + (forgotten == .inDoubt ? [.unknown] : [])
    }
}

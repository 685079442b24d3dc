internal import RunLoops

/// The posters whose connections have ended, but whose processes are not known to have ended.
///
/// A process counts as if it were connected for as long as anything of it is kept: its posters and their topics use up its share of
/// the hub's memory, and they are bounded for the process and in all. Each process is watched once, however many posters it has.
struct HubAbsence {
    typealias Owner = HubShares.Owner

    /// The maximum number of absent posters of one process.
    static let mostOfProcess = 256
    /// The maximum number of absent posters.
    static let most = 1_024
    /// The maximum number of processes that are watched.
    ///
    /// Each needs a descriptor, of which the hub needs more for connections.
    static let mostWatched = 128

    private var order = FairQueue<PosterID, Owner>()
    private var numbers: [PosterID: NumberView] = [:]
    /// The sources that report the end of a process.
    private var watches: [Owner: ProcessSource] = [:]

    var count: Int { order.count }

    /// Adds a poster of a process.
    mutating func add(_ poster: PosterID, _ view: NumberView?, of owner: Owner) {
        order.append(poster, of: owner)
        numbers[poster] = view
    }

    /// Removes a poster; nothing happens if it is not absent.
    mutating func remove(_ poster: PosterID) {
        guard let owner = order.remove(poster) else { return }
        numbers[poster] = nil
        if order.count(of: owner) == 0 { watches.removeValue(forKey: owner)?.invalidate() }
    }

    /// Removes all posters of a process that has ended, and returns them with the numbers of their last posts.
    mutating func removeAll(of owner: Owner) -> [(PosterID, NumberView?)] {
        var removed: [(PosterID, NumberView?)] = []
        while let poster = order.first(of: owner) {
            removed.append((poster, numbers[poster]))
            remove(poster)
        }
        return removed
    }

    /// The poster that is given up next, because there are too many of its process or in all; nil if there is room.
    func excess(of owner: Owner) -> PosterID? {
        if order.count(of: owner) > HubAbsence.mostOfProcess { return order.first(of: owner) }
        return order.count > HubAbsence.most || watches.count > HubAbsence.mostWatched ? greediest : nil
    }

    /// The poster that has been absent longest, of the process with the most absent posters.
    var greediest: PosterID? { order.firstOfGreediest }

    func isWatched(_ owner: Owner) -> Bool { watches[owner] != nil }

    mutating func watch(_ owner: Owner, with source: ProcessSource) { watches[owner] = source }

    mutating func end() {
        for watch in watches.values { watch.invalidate() }
        self = HubAbsence()
    }
}

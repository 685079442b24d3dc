internal import DequeModule

// The memory that a follower takes, which depends on what other processes post.

extension Follower {
    private static let costOfAccount = 160
    private static func cost(of topic: Topic) -> Int {
        topic.name.utf8.count + (topic.sender?.utf8.count ?? 0) + 96
    }

    /// Changes the account of a poster, which is added if there is none.
    mutating func change<Result>(_ poster: PosterID, _ body: (inout Account) -> Result) -> Result {
        let count = accounts.count
        defer { if accounts.count > count { bytes += Follower.costOfAccount } }
        return body(&accounts[poster, default: Account()])
    }

    mutating func note(_ poster: PosterID, _ topic: Topic, _ number: UInt64) {
        if change(poster, { $0.topics.updateValue(number, forKey: topic) }) == nil { count(topic) }
    }

    mutating func count(_ topic: Topic) {
        topicBytes += Follower.cost(of: topic)
        bytes += Follower.cost(of: topic)
    }

    mutating func removeAccount(of poster: PosterID) {
        guard let removed = accounts.removeValue(forKey: poster) else { return }
        let topics = removed.topics.keys.reduce(0) { $0 + Follower.cost(of: $1) }
        topicBytes -= topics
        bytes -= topics + Follower.costOfAccount
    }

    /// Returns true if the poster may have had an account that was forgotten.
    func mayBeForgotten(_ poster: PosterID) -> Bool { hasForgotten && accounts[poster] == nil }

    /// Forgets at least half of what the accounts contain, because they take too much memory.
    ///
    /// The observer is told that posts of any poster may be missing. If most of the memory is for topics, the posters keep their
    /// numbers, so that nothing is delivered twice, and each later loss is a gap of its own. Otherwise the posters are forgotten.
    mutating func forget(_ emit: (Event) -> Void) {
        if 2 * topicBytes >= bytes {
            for index in accounts.indices {
                accounts.values[index].floor = accounts.values[index].last
                accounts.values[index].topics = [:]
            }
        } else {
            accounts = [:]
            ended = []
            hasForgotten = true
        }
        topicBytes = 0
        bytes = accounts.count * Follower.costOfAccount
        if hasBegun { emit(.gap(.ofAnyPoster(.notKept))) }
    }
}

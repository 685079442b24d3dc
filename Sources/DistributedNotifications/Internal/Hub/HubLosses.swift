/// The posts that were left out of one connection's queue for lack of room, until the connection is told.
struct HubLosses: Hashable, Sendable {
    /// The losses that are not in the table of topics.
    enum Others: Hashable, Sendable {
        case none
        /// Posts of further topics are missing, which a survey of all topics finds.
        case topics
        /// In addition, a poster was forgotten since, whose topics no survey finds.
        case posters
    }

    /// The number of the newest missing post of each topic.
    private var topics: [HubIndex.MarkKey: UInt64] = [:]
    private(set) var others = Others.none

    var isEmpty: Bool { topics.isEmpty && others == .none }

    /// Notes that a post was left out.
    mutating func add(_ post: Post, most: Int) {
        let key = HubIndex.MarkKey(poster: post.poster, topic: post.topic)
        if topics[key] == nil && topics.count >= most {
            switch others {
            case .none: others = .topics
            case .topics, .posters: break
            }
        } else {
            topics[key] = post.number
        }
    }

    /// Notes that the hub forgets a poster that has ended.
    mutating func forgetPoster() {
        switch others {
        case .none: break
        case .topics, .posters: others = .posters
        }
    }

    /// Removes and returns the report about a post's topic, which comes before the post; nil if nothing of the topic is missing.
    mutating func take(before post: Post) -> Horizon? {
        if topics.isEmpty { return nil }
        let key = HubIndex.MarkKey(poster: post.poster, topic: post.topic)
        return topics.removeValue(forKey: key).map { HubLosses.report(key, $0) }
    }

    /// Removes and returns the reports about single topics in the order of their numbers, and what is missing besides.
    mutating func takeAll() -> ([Horizon], Others) {
        defer { self = HubLosses() }
        return (topics.map { HubLosses.report($0, $1) }.sorted { $0.number < $1.number }, others)
    }

    static func report(_ key: HubIndex.MarkKey, _ number: UInt64) -> Horizon {
        Horizon(poster: key.poster, topic: key.topic, number: number, reason: .processBehind)
    }
}

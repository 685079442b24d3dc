internal import DequeModule

/// What concerns a topic, found without a search: the connections that subscribe to it, and the marks and kept posts that a
/// subscription asks for.
///
/// A subscription is for one of four patterns of a topic: its name, its sender, both, or every topic. Each pattern in use has a
/// node, and each mark and kept post remembers the nodes of its topic. So the work for a post, for a horizon or for a subscription
/// depends on what matches, and not on what the hub keeps.
struct HubIndex: Sendable {
    /// The topics that a subscription asks for.
    struct Pattern: Hashable, Sendable {
        let name: String?
        let sender: String?

        /// The pattern of every topic.
        static let everything = Pattern(name: nil, sender: nil)

        init(name: String?, sender: String?) { (self.name, self.sender) = (name, sender) }
        init(_ request: Subscription) { self.init(name: request.name, sender: request.sender) }
    }

    /// A mark of a poster, as ``HubPoster/marks`` keeps it.
    struct MarkKey: Hashable, Sendable {
        let poster: PosterID
        let topic: Topic
    }

    /// The nodes that a topic belongs to, besides that of every topic; the last two are nil if the topic has no sender.
    struct Places: Sendable {
        fileprivate let name: Int
        fileprivate let sender: Int?
        fileprivate let both: Int?
    }

    private struct Node: Sendable {
        let pattern: Pattern
        /// The connections with a subscription to this pattern that gets new posts.
        var live = Subscribers()
        /// The connections with a subscription to this pattern that is still getting earlier posts.
        var replaying = Subscribers()
        /// The marks of all posters and topics that match.
        var marks = SerialList<MarkKey>()
        /// The positions of the kept posts that match, in ascending order.
        var kept = Deque<UInt64>()

        var isUnused: Bool { live.isEmpty && replaying.isEmpty && marks.isEmpty && kept.isEmpty }
    }

    /// The nodes by number.
    ///
    /// The first node is that of every topic, whose `kept` stays empty.
    private var nodes = GradualArray<Node>()
    private var numbers = GradualTable<Pattern, Int>()
    /// The numbers of nodes that are not in use.
    private var unused: [Int] = []
    private(set) var lastSerial: UInt64 = 0
    /// The posters that have sent their first announcement, and have not ended.
    private(set) var posters = SerialList<PosterID>()
    private var posterSerials: [PosterID: UInt64] = [:]
    /// The connections that have subscriptions.
    private(set) var listeners = Subscribers()

    init() { _ = node(.everything) }

    private mutating func node(_ pattern: Pattern) -> Int {
        if let number = numbers[pattern] { return number }
        let number = unused.popLast() ?? nodes.count
        numbers[pattern] = number
        let node = Node(pattern: pattern)
        if number == nodes.count { nodes.append(node) } else { nodes[number] = node }
        return number
    }

    private mutating func giveUp(_ number: Int) {
        if number == 0 || !nodes[number].isUnused { return }
        numbers[nodes[number].pattern] = nil
        nodes[number] = Node(pattern: .everything)
        unused.append(number)
    }

    // MARK: - Subscribers

    /// Notes that a connection has one more subscription, which may not have begun.
    mutating func addListener(_ connection: Hub.ConnectionID) { listeners.add(connection) }

    mutating func removeListener(_ connection: Hub.ConnectionID) { listeners.remove(connection) }

    /// Adds a subscription of a connection.
    mutating func add(_ pattern: Pattern, _ connection: Hub.ConnectionID, isReplaying: Bool) {
        let number = node(pattern)
        if isReplaying {
            nodes[number].replaying.add(connection)
        } else {
            nodes[number].live.add(connection)
        }
    }

    /// Removes a subscription of a connection.
    mutating func remove(_ pattern: Pattern, _ connection: Hub.ConnectionID, isReplaying: Bool) {
        guard let number = numbers[pattern] else { return }
        if isReplaying {
            nodes[number].replaying.remove(connection)
        } else {
            nodes[number].live.remove(connection)
        }
        giveUp(number)
    }

    /// Returns the connections that get new posts of a topic, in ascending order, each once.
    func live(_ places: Places) -> [Hub.ConnectionID] { connections(places, areReplaying: false) }

    /// Returns the connections that are still getting earlier posts of a topic, in ascending order, each once.
    func replaying(_ places: Places) -> [Hub.ConnectionID] { connections(places, areReplaying: true) }

    private func connections(_ places: Places, areReplaying: Bool) -> [Hub.ConnectionID] {
        func list(_ number: Int) -> [Hub.ConnectionID] {
            areReplaying ? nodes[number].replaying.connections : nodes[number].live.connections
        }
        var found = Subscribers.union(list(places.name), list(0))
        if let sender = places.sender { found = Subscribers.union(found, list(sender)) }
        if let both = places.both { found = Subscribers.union(found, list(both)) }
        return found
    }

    /// Returns true if a connection gets new posts of a topic.
    func isLive(_ connection: Hub.ConnectionID, _ places: Places) -> Bool {
        nodes[0].live.contains(connection) || nodes[places.name].live.contains(connection)
            || places.sender.map { nodes[$0].live.contains(connection) } ?? false
            || places.both.map { nodes[$0].live.contains(connection) } ?? false
    }

    // MARK: - Marks

    /// Adds a mark.
    ///
    /// - Returns: The nodes of the topic, and the place of the mark in each of them.
    mutating func add(_ key: MarkKey) -> (Places, serial: UInt64) {
        lastSerial += 1
        let topic = key.topic
        let places = Places(
            name: node(Pattern(name: topic.name, sender: nil)),
            sender: topic.sender.map { node(Pattern(name: nil, sender: $0)) },
            both: topic.sender.map { node(Pattern(name: topic.name, sender: $0)) })
        for number in HubIndex.all(places) { nodes[number].marks.append(key, serial: lastSerial) }
        return (places, lastSerial)
    }

    mutating func removeMark(_ places: Places, serial: UInt64) {
        for number in HubIndex.all(places) {
            nodes[number].marks.remove(serial)
            giveUp(number)
        }
    }

    private static func all(_ places: Places) -> [Int] {
        [0, places.name] + (places.sender.map { [$0] } ?? []) + (places.both.map { [$0] } ?? [])
    }

    /// Returns the number of marks that match a pattern.
    func markCount(_ pattern: Pattern) -> Int { numbers[pattern].map { nodes[$0].marks.count } ?? 0 }

    /// Returns the marks of a pattern after a place and up to another one, at most `most` of them, with their places.
    func marks(
        _ pattern: Pattern, after start: UInt64, upTo end: UInt64, atMost most: Int
    ) -> [(serial: UInt64, element: MarkKey)] {
        guard let number = numbers[pattern] else { return [] }
        return nodes[number].marks.some(after: start, upTo: end, atMost: most)
    }

    // MARK: - Posters and listeners

    /// Adds a poster that has sent its first announcement; nothing happens if it is in the list.
    mutating func add(_ poster: PosterID) {
        if posterSerials[poster] != nil { return }
        lastSerial += 1
        posterSerials[poster] = lastSerial
        posters.append(poster, serial: lastSerial)
    }

    mutating func remove(_ poster: PosterID) {
        if let serial = posterSerials.removeValue(forKey: poster) { posters.remove(serial) }
    }

    // MARK: - Kept posts

    mutating func keep(_ position: UInt64, _ places: Places) {
        nodes[places.name].kept.append(position)
        if let sender = places.sender { nodes[sender].kept.append(position) }
        if let both = places.both { nodes[both].kept.append(position) }
    }

    /// Removes the oldest kept post, which has these nodes.
    mutating func dropOldest(_ places: Places) {
        drop(places.name)
        if let sender = places.sender { drop(sender) }
        if let both = places.both { drop(both) }
    }

    private mutating func drop(_ number: Int) {
        nodes[number].kept.removeFirst()
        if nodes[number].kept.isEmpty { giveUp(number) }
    }

    /// Returns the position of the first kept post of a pattern at or after a position; nil if there is none.
    func kept(_ pattern: Pattern, from position: UInt64) -> UInt64? {
        guard let kept = numbers[pattern].map({ nodes[$0].kept }) else { return nil }
        var (low, high) = (0, kept.count)
        while low < high {
            let middle = (low + high) / 2
            if kept[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low < kept.count ? kept[low] : nil
    }

    /// Returns the position of the first of the last `count` kept posts of a pattern; nil if there is none.
    func kept(_ pattern: Pattern, last count: Int) -> UInt64? {
        guard let kept = numbers[pattern].map({ nodes[$0].kept }), !kept.isEmpty, count > 0 else {
            return nil
        }
        return kept[max(0, kept.count - min(count, kept.count))]
    }
}

// The index follows from the posters, the subscriptions and the kept posts, so that it makes no difference between two hubs.
extension HubIndex: Hashable {
    static func == (left: HubIndex, right: HubIndex) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

import TestSupport
import Testing

@testable import DistributedNotifications

/// What a process can make a hub do and keep.
struct HubBoundsTests {
    private let poster = PosterID(high: 0, low: 1)
    private let attacker = HubShares.Owner(user: 1, process: 66)
    private let other = HubShares.Owner(user: 1, process: 67)

    private func open(
        _ id: UInt64, _ hub: inout Hub, of owner: HubShares.Owner = .own, named name: PosterID? = nil
    ) throws {
        _ = hub.open(id, poster: name ?? PosterID(high: 1, low: id), of: owner)
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: id)
    }

    private func topic(_ number: Int, sender: String? = nil) -> Topic {
        Topic(name: "t\(number)", sender: sender)
    }

    @Test func `a post costs nothing for subscriptions of its name that do not match`() throws {
        var hub = Hub(Epoch(high: 0, low: 1))
        try open(1, &hub, named: poster)
        for id: UInt64 in 2...9 {
            try open(id, &hub)
            for number in 1...2_000 {
                try hub.subscribe(
                    Subscription(number: UInt64(number), name: "x", sender: "never\(number)", start: .now),
                    from: id)
            }
        }
        try hub.subscribe(Subscription(number: 9_999, name: "x", sender: "s", start: .now), from: 5)
        let post = Post(poster: poster, number: 1, previous: 0, topic: Topic(name: "x", sender: "s"))
        let matching = try hub.publish(post, from: 1)
        #expect(matching == 1)
        let next = Post(poster: poster, number: 2, previous: 0, topic: Topic(name: "x", sender: "u"))
        let others = try hub.publish(next, from: 1)
        #expect(others == 0)
    }

    /// The same questions, answered by a search.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the index finds what a search finds`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var index = HubIndex()
        var marks: [(key: HubIndex.MarkKey, places: HubIndex.Places, serial: UInt64)] = []
        var kept: [(position: UInt64, topic: Topic, places: HubIndex.Places)] = []
        var subscribed: [(request: Subscription, id: UInt64)] = []
        var newest: UInt64 = 0
        func topic() -> Topic {
            Topic(
                name: "n\(Int.random(in: 0..<3, using: &random))",
                sender: Bool.random(using: &random) ? "s\(Int.random(in: 0..<3, using: &random))" : nil)
        }
        func request() -> Subscription {
            let topic = topic()
            return Subscription(
                number: 1, name: Bool.random(using: &random) ? topic.name : nil, sender: topic.sender,
                start: .now)
        }
        for _ in 0..<600 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let key = HubIndex.MarkKey(
                    poster: PosterID(high: 0, low: random.next()), topic: topic())
                let (places, serial) = index.add(key)
                marks.append((key, places, serial))
            case 1:
                if marks.isEmpty { continue }
                let removed = marks.remove(at: Int.random(in: marks.indices, using: &random))
                index.removeMark(removed.places, serial: removed.serial)
            case 2:
                guard let mark = marks.randomElement(using: &random) else { continue }
                newest += 1
                index.keep(newest, mark.places)
                kept.append((newest, mark.key.topic, mark.places))
                if kept.count > 20 { index.dropOldest(kept.removeFirst().places) }
            case 3:
                let added = (request(), UInt64.random(in: 1...5, using: &random))
                index.add(.init(added.0), added.1, isReplaying: false)
                subscribed.append(added)
            case 4:
                if subscribed.isEmpty { continue }
                let removed = subscribed.remove(at: Int.random(in: subscribed.indices, using: &random))
                index.remove(.init(removed.request), removed.id, isReplaying: false)
            default:
                if let mark = marks.randomElement(using: &random) {
                    let ids = Set(subscribed.filter { $0.request.matches(mark.key.topic) }.map(\.id))
                    #expect(index.live(mark.places) == ids.sorted())
                    #expect((1...5).allSatisfy { index.isLive($0, mark.places) == ids.contains($0) })
                }
                let request = request()
                let pattern = HubIndex.Pattern(request)
                let found = index.marks(pattern, after: 0, upTo: .max, atMost: .max).map(\.serial)
                #expect(found == marks.filter { request.matches($0.key.topic) }.map(\.serial).sorted())
                if pattern == .everything { continue }
                let positions = kept.filter { request.matches($0.topic) }.map(\.position)
                for count in [1, 2, 100] {
                    #expect(index.kept(pattern, last: count) == positions.suffix(count).first)
                }
                let from = UInt64.random(in: 0...(newest + 1), using: &random)
                #expect(index.kept(pattern, from: from) == positions.first { $0 >= from })
            }
        }
    }

    @Test func `a process gets what is still free, and gives back what it has used`() throws {
        var limits = Hub.Limits()
        limits.bytes = 100_000
        limits.tombstones = 0
        var hub = Hub(Epoch(high: 0, low: 1), limits)
        try open(1, &hub, of: attacker, named: poster)
        var count = 0
        #expect(throws: WireViolation.self) {
            while count < 10_000 {
                let number = UInt64(count + 1)
                try hub.publish(
                    Post(poster: poster, number: number, previous: 0, topic: topic(count)), from: 1)
                count += 1
            }
        }
        // It has about half of all.
        #expect((40_000...50_000).contains(hub.shares.bytes(of: attacker)))
        // There is room for others, and for their queues.
        try open(2, &hub, of: other)
        for number: UInt64 in 1...20 {
            try hub.subscribe(
                Subscription(number: number, name: "o\(number)", sender: nil, start: .now), from: 2)
        }
        // A poster that has left counts until it is forgotten.
        hub.close(1)
        #expect((40_000...50_000).contains(hub.shares.bytes(of: attacker)))
        hub.end(poster, last: nil)
        while hub.hasLeftovers { hub.tidy() }
        #expect(hub.shares.bytes(of: attacker) == 0)
        while hub.next(for: 2) != nil {}
        hub.close(2)
        hub.end(PosterID(high: 1, low: 2), last: 0)
        while hub.hasLeftovers { hub.tidy() }
        #expect(hub.shares.used == 0)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `whatever comes and goes, nothing stays counted`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var limits = Hub.Limits()
        (limits.bytes, limits.tombstones, limits.queuedPosts) = (60_000, 3, 5)
        (limits.queuedEvents, limits.ringPosts) = (40, 30)
        var hub = Hub(Epoch(high: 0, low: 1), limits)
        var lastID: UInt64 = 0
        for _ in 0..<800 {
            let id = UInt64.random(in: (max(lastID, 6) - 5)...(lastID + 1), using: &random)
            do throws(WireViolation) {
                switch Int.random(in: 0..<9, using: &random) {
                case 0:
                    lastID += 1
                    let name = PosterID(high: 1, low: .random(in: 1...6, using: &random))
                    let owner = [attacker, other, .own].randomElement(using: &random) ?? .own
                    _ = hub.open(lastID, poster: name, of: owner)
                    try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: lastID)
                case 1, 2, 3:
                    guard let name = hub.connections[id]?.poster, let accepted = hub.posters[name]?.accepted
                    else { continue }
                    let topic = topic(
                        .random(in: 0..<20, using: &random), sender: Bool.random(using: &random) ? "s" : nil)
                    try hub.publish(
                        Post(poster: name, number: accepted + 1, previous: 0, topic: topic), from: id)
                case 4:
                    try hub.subscribe(
                        Subscription(
                            number: .random(in: 1...9, using: &random),
                            name: Bool.random(using: &random)
                                ? "t\(Int.random(in: 0..<20, using: &random))" : nil,
                            sender: Bool.random(using: &random) ? "s" : nil,
                            start: [.now, .last(3), .since(0)].randomElement(using: &random) ?? .now),
                        from: id)
                case 5: hub.unsubscribe(.random(in: 1...9, using: &random), from: id)
                case 6:
                    if case .batch(let batch)? = hub.next(for: id) {
                        try hub.confirm(batch.number, credits: 3, from: id)
                    }
                case 7:
                    hub.close(id)
                    if Bool.random(using: &random), let name = hub.posters.keys.sorted().first {
                        hub.end(name, last: nil)
                    }
                default: _ = hub.check()
                }
            } catch { hub.close(id) }
            for id in hub.takeOverrun() { hub.close(id) }
            if Bool.random(using: &random), hub.hasLeftovers { hub.tidy() }
            while hub.takeReady() != nil {}
        }
        for id in hub.connections.keys.sorted() { hub.close(id) }
        for name in hub.posters.keys.sorted() { hub.end(name, last: nil) }
        while hub.hasLeftovers { hub.tidy() }
        // What the hub remembers of ended posters still counts.
        let remembered = (1...6).reduce(0) {
            $0 + (hub.tombstones[PosterID(high: 1, low: UInt64($1))]?.poster.bytes ?? 0)
        }
        #expect(hub.shares.used == remembered)
    }

    @Test func `posters that end one after another with lost posts are few gaps for an observer`() throws {
        var hub = Hub(Epoch(high: 0, low: 1))
        try open(1, &hub)
        var follower = Follower(Subscription(number: 1, name: "a", sender: nil, start: .now))
        follower.connect()
        try hub.subscribe(follower.subscription, from: 1)
        var gaps: [DistributedNotificationGap] = []
        var (present, ended): (Set<PosterID>, Set<PosterID>) = ([], [])
        func take(_ hub: inout Hub) {
            while let output = hub.next(for: 1) {
                guard case .batch(let batch) = output else { continue }
                for item in batch.items {
                    switch item {
                    case .present(let poster): present.insert(poster)
                    case .baseline(let baseline): follower.take(baseline, in: hub.epoch, at: 0) { _ in }
                    case .ended(let end, _):
                        ended.insert(end.poster)
                        follower.take(end, in: hub.epoch) { if case .gap(let gap) = $0 { gaps.append(gap) } }
                    case .post, .horizon: break
                    }
                }
            }
        }
        take(&hub)
        for number: UInt64 in 10..<110 {
            try open(number, &hub, of: attacker)
            hub.close(number)
            hub.end(PosterID(high: 1, low: number), last: 60)
        }
        take(&hub)
        // Four are named, and one report stands for the others until the interval ends.
        #expect(gaps.count == 5 && gaps.last?.poster == .unknown && gaps.last?.to == nil)
        // The observer still hears of each that it is no longer there.
        #expect(present.subtracting(ended) == [PosterID(high: 1, low: 1)])
        for _ in 1...EndReports.checksOfInterval {
            #expect(gaps.count == 5)
            let isActive = hub.check()
            #expect(isActive)
            take(&hub)
        }
        #expect(gaps.count == 6 && gaps.last?.poster == .unknown)
        // A poster of another process is named.
        try open(200, &hub, of: other)
        hub.close(200)
        hub.end(PosterID(high: 1, low: 200), last: 7)
        take(&hub)
        #expect(gaps.count == 7 && gaps.last?.to == 7)
        while hub.check() {}
        take(&hub)
        #expect(gaps.count == 7)
    }

    @Test func `a connection with many subscriptions is removed in parts`() throws {
        var hub = Hub(Epoch(high: 0, low: 1))
        try open(1, &hub, named: poster)
        try open(2, &hub)
        for number: UInt64 in 1...1_000 {
            try hub.subscribe(Subscription(number: number, name: "t0", sender: nil, start: .now), from: 2)
        }
        hub.close(2)
        #expect(hub.hasLeftovers)
        try hub.publish(Post(poster: poster, number: 1, previous: 0, topic: topic(0)), from: 1)
        #expect(hub.posters[poster]?.settled == 1)
        var parts = 0
        while hub.hasLeftovers {
            hub.tidy()
            parts += 1
        }
        #expect((5...10).contains(parts))
        let count = try hub.publish(
            Post(poster: poster, number: 2, previous: 1, topic: topic(0)), from: 1)
        #expect(count == 0)
    }
}

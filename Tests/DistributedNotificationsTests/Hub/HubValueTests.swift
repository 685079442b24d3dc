import Testing

@testable import DistributedNotifications

/// The rules of the hub's state that the walks of ``ContractTests`` do not count.
struct HubValueTests {
    private let poster = PosterID(high: 0, low: 1)
    private let observer = PosterID(high: 0, low: 2)
    private let topic = Topic(name: "a", sender: nil)

    private func hub(_ limits: Hub.Limits = Hub.Limits(), observers: Int = 1) throws -> Hub {
        var hub = Hub(Epoch(high: 0, low: 1), limits)
        _ = hub.open(1, poster: poster)
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: 1)
        for number in 0..<observers {
            let id = UInt64(number + 2)
            _ = hub.open(id, poster: PosterID(high: 1, low: id))
            try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: id)
            try hub.subscribe(Subscription(number: 1, name: "a", sender: nil, start: .now), from: id)
            while hub.next(for: id) != nil {}
        }
        while hub.next(for: 1) != nil {}
        return hub
    }

    private func publish(_ numbers: ClosedRange<UInt64>, to hub: inout Hub) throws {
        for number in numbers {
            try hub.publish(Post(poster: poster, number: number, previous: number - 1, topic: topic), from: 1)
        }
    }

    private func acknowledgement(_ hub: inout Hub) -> [UInt64]? {
        hub.acknowledgePatient()
        guard case .acknowledged(let accepted, let settled)? = hub.next(for: 1) else { return nil }
        return [accepted, settled]
    }

    private func expectAcknowledgement(
        _ hub: inout Hub, _ numbers: [UInt64]?, _ location: SourceLocation = #_sourceLocation
    ) {
        let found = acknowledgement(&hub)
        #expect(found == numbers, sourceLocation: location)
    }

    // Guarantees: A post is settled only when each connected process that subscribes to it has confirmed it, was given a gap, has
    // confirmed nothing for half a second, or has disconnected.
    @Test func `a post is settled when every connection has confirmed it, or has ended`() throws {
        var hub = try hub(observers: 2)
        try publish(1...2, to: &hub)
        expectAcknowledgement(&hub, [2, 0])
        for id: UInt64 in 2...3 { while hub.next(for: id) != nil {} }
        try hub.confirm(hub.connections[2]?.lastBatch ?? 0, credits: 10, from: 2)
        expectAcknowledgement(&hub, nil)
        hub.close(3)
        expectAcknowledgement(&hub, [2, 2])
    }

    /// Looking up the ended poster must not move the others, whose number decides if their table is full.
    @Test(arguments: 1...13)
    func `a connection that falls behind may hold posts of a poster that has ended`(observers: Int) throws {
        var limits = Hub.Limits()
        limits.queuedPosts = 3
        var hub = try hub(limits, observers: observers)
        let ended = PosterID(high: 2, low: 1)
        _ = hub.open(99, poster: ended)
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: 99)
        try hub.publish(Post(poster: ended, number: 1, previous: 0, topic: topic), from: 99)
        hub.close(99)
        hub.end(ended, last: 1)
        _ = hub.open(100, poster: PosterID(high: 2, low: 2))
        try publish(1...4, to: &hub)
        expectAcknowledgement(&hub, [4, 4])
    }

    // Guarantees: A slow observer delays neither posters nor other observers, and a stopped process delays posters for at most a
    // second.
    @Test func `a slow connection holds back neither posters nor others, and is told what it has missed`()
        throws
    {
        var limits = Hub.Limits()
        limits.queuedPosts = 3
        var hub = try hub(limits, observers: 2)
        var received = 0
        for number: UInt64 in 1...100 {
            try publish(number...number, to: &hub)
            while case .batch(let batch)? = hub.next(for: 3) {
                received += batch.items.count
                try hub.confirm(batch.number, credits: 10, from: 3)
            }
        }
        #expect(received == 100)
        #expect(hub.backlog(of: 2).queued == 3)
        // Only the three that wait for the slow one are not settled.
        try hub.confirm(0, credits: 10, from: 2)
        guard case .batch(let batch)? = hub.next(for: 2) else { return #expect(Bool(false)) }
        let posts = batch.items.count { if case .post = $0 { true } else { false } }
        #expect(posts == 3)
        guard case .horizon(let loss, _)? = batch.items.last else { return #expect(Bool(false)) }
        #expect(loss.number == 100 && loss.reason == .processBehind)
    }

    @Test func `posters do not wait for a connection that found no room, until it has confirmed everything`()
        throws
    {
        var limits = Hub.Limits()
        limits.queuedPosts = 3
        var hub = try hub(limits)
        try publish(1...3, to: &hub)
        expectAcknowledgement(&hub, [3, 0])
        try publish(4...4, to: &hub)
        expectAcknowledgement(&hub, [4, 4])
        // It takes one batch, which is not everything.
        guard case .batch(let first)? = hub.next(for: 2) else { return #expect(Bool(false)) }
        try publish(5...5, to: &hub)
        expectAcknowledgement(&hub, [5, 5])
        try hub.confirm(first.number, credits: 10, from: 2)
        guard case .batch(let second)? = hub.next(for: 2) else { return #expect(Bool(false)) }
        try hub.confirm(second.number, credits: 10, from: 2)
        try publish(6...6, to: &hub)
        expectAcknowledgement(&hub, [6, 5])
    }

    // Guarantees: A post is settled only when each connected process that subscribes to it has confirmed it, was given a gap, has
    // confirmed nothing for half a second, or has disconnected.
    @Test func `posters do not wait for a connection that confirms nothing between two checks`() throws {
        var hub = try hub(observers: 2)
        try publish(1...2, to: &hub)
        expectAcknowledgement(&hub, [2, 0])
        var isAwaited = hub.check()
        #expect(isAwaited)
        expectAcknowledgement(&hub, nil)
        // One of the two goes on.
        guard case .batch(let batch)? = hub.next(for: 3) else { return #expect(Bool(false)) }
        try hub.confirm(batch.number, credits: 10, from: 3)
        try publish(3...3, to: &hub)
        expectAcknowledgement(&hub, [3, 0])
        isAwaited = hub.check()
        #expect(isAwaited)
        // The other has still both posts to come, and does not count any more.
        expectAcknowledgement(&hub, [3, 2])
        guard case .batch(let last)? = hub.next(for: 3) else { return #expect(Bool(false)) }
        try hub.confirm(last.number, credits: 10, from: 3)
        expectAcknowledgement(&hub, [3, 3])
        isAwaited = hub.check()
        #expect(!isAwaited)
        #expect(hub.backlog(of: 2).queued == 3)
    }

    @Test
    func `a subscription that is replayed takes no post that is meant for the others of its connection`()
        throws
    {
        var hub = try hub(observers: 0)
        let reader = PosterID(high: 1, low: 2)
        var followers = [
            Follower(Subscription(number: 1, name: "a", sender: nil, start: .now)),
            Follower(Subscription(number: 2, name: nil, sender: nil, start: .now)),
        ]
        var delivered: [[UInt64]] = [[], []]
        var gaps = 0
        func connect(_ id: UInt64, _ hub: inout Hub) throws {
            _ = hub.open(id, poster: reader)
            try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: id)
            for index in followers.indices {
                followers[index].connect()
                try hub.subscribe(followers[index].subscription, from: id)
            }
        }
        /// Takes the next batch; false if there is none.
        func takeNext(_ id: UInt64, _ hub: inout Hub) throws -> Bool {
            guard case .batch(let batch)? = hub.next(for: id) else { return false }
            for item in batch.items {
                for index in followers.indices {
                    let add: (Follower.Event) -> Void = { event in
                        switch event {
                        case .notification(let post): delivered[index].append(post.number)
                        case .gap: gaps += 1
                        }
                    }
                    switch item {
                    case .post(let post): followers[index].take(post, in: hub.epoch, add)
                    case .horizon(let horizon, _): followers[index].take(horizon, in: hub.epoch, add)
                    case .baseline(let baseline): followers[index].take(baseline, in: hub.epoch, at: 0, add)
                    default: break
                    }
                }
            }
            try hub.confirm(batch.number, credits: 1, from: id)
            return true
        }
        try connect(2, &hub)
        while try takeNext(2, &hub) {}
        try publish(1...2, to: &hub)
        while try takeNext(2, &hub) {}
        hub.close(2)
        try publish(3...9, to: &hub)
        try connect(3, &hub)
        try hub.confirm(0, credits: 1, from: 3)
        while delivered[0].last != 9 { _ = try takeNext(3, &hub) }
        // The first subscription is live again, and the second one has most of its earlier posts to come.
        for number: UInt64 in 10...30 {
            _ = try takeNext(3, &hub)
            try publish(number...number, to: &hub)
        }
        while try takeNext(3, &hub) {}
        #expect(gaps == 0)
        #expect(delivered == [Array(1...30), Array(1...30)])
    }

    @Test func `more topics than the hub notes one by one are all told`() throws {
        var limits = Hub.Limits()
        limits.queuedPosts = 1
        limits.missedTopics = 2
        var hub = try hub(limits)
        _ = hub.open(9, poster: PosterID(high: 1, low: 9))
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: 9)
        try hub.subscribe(Subscription(number: 1, name: nil, sender: nil, start: .now), from: 9)
        while hub.next(for: 9) != nil {}
        for number: UInt64 in 1...6 {
            let topic = Topic(name: "t\(number)", sender: nil)
            try hub.publish(Post(poster: poster, number: number, previous: 0, topic: topic), from: 1)
        }
        var told: Set<UInt64> = []
        while case .batch(let batch)? = hub.next(for: 9) {
            for item in batch.items {
                switch item {
                case .post(let delivered): told.insert(delivered.post.number)
                case .horizon(let horizon, _): told.insert(horizon.number)
                default: break
                }
            }
        }
        #expect(told == [1, 2, 3, 4, 5, 6])
    }

    @Test func `late comers get the last posts, or those since a time, that the hub still has`() throws {
        var limits = Hub.Limits()
        limits.ringPosts = 4
        var hub = try hub(limits)
        for number: UInt64 in 1...8 {
            try hub.publish(
                Post(poster: poster, number: number, previous: number - 1, topic: topic, date: Int64(number)),
                from: 1)
        }
        func first(_ start: Subscription.Start, _ id: UInt64) throws -> [UInt64] {
            _ = hub.open(id, poster: PosterID(high: 3, low: id))
            try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: id)
            try hub.subscribe(Subscription(number: 1, name: "a", sender: nil, start: start), from: id)
            var numbers: [UInt64] = []
            while let output = hub.next(for: id) {
                guard case .batch(let batch) = output else { continue }
                for case .post(let delivered) in batch.items { numbers.append(delivered.post.number) }
            }
            return numbers
        }
        #expect(try first(.now, 20) == [])
        #expect(try first(.last(2), 21) == [7, 8])
        #expect(try first(.last(100), 22) == [5, 6, 7, 8])
        #expect(try first(.since(6), 23) == [6, 7, 8])
    }

    @Test func `what breaks the protocol is refused`() throws {
        let poster = poster
        let topic = topic
        var hub = try hub()
        let other = PosterID(high: 9, low: 9)
        #expect(throws: WireViolation.self) {
            try hub.publish(Post(poster: other, number: 1, previous: 0, topic: topic), from: 1)
        }
        #expect(throws: WireViolation.self) {
            try hub.publish(Post(poster: poster, number: 1, previous: 1, topic: topic), from: 1)
        }
        #expect(throws: WireViolation.self) { try hub.confirm(1_000, credits: 1, from: 1) }
        #expect(throws: WireViolation.self) {
            let horizon = Horizon(poster: other, topic: topic, number: 1, reason: .notKept)
            try hub.announce(Announcement(horizons: [horizon], number: 1, isOpening: false), from: 1)
        }
        #expect(throws: WireViolation.self) {
            try hub.subscribe(Subscription(number: 1, name: "a", sender: nil, start: .now), from: 2)
        }
        hub.end(poster, last: 0)
        #expect(throws: WireViolation.self) {
            try hub.publish(Post(poster: poster, number: 1, previous: 0, topic: topic), from: 1)
        }
    }

    @Test func `a connection that reads nothing is given up when even ends and horizons have no room`() throws
    {
        var limits = Hub.Limits()
        limits.queuedEvents = 10
        var hub = try hub(limits)
        for number: UInt64 in 100..<120 {
            _ = hub.open(number, poster: PosterID(high: 5, low: number))
            try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: number)
            hub.close(number)
            if number == 102 {
                let early = hub.takeOverrun()
                #expect(early.isEmpty)
            }
        }
        let overrun = hub.takeOverrun()
        #expect(overrun == [2])
    }

    @Test func `posters that have ended are forgotten beyond a bound`() throws {
        var limits = Hub.Limits()
        limits.tombstones = 2
        var hub = try hub(limits)
        for number: UInt64 in 100..<110 {
            _ = hub.open(number, poster: PosterID(high: 5, low: number))
            try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: number)
            hub.close(number)
            hub.end(PosterID(high: 5, low: number), last: 3)
        }
        #expect(hub.tombstones.count == 2 && hub.tombstones.topicCount == 0)
        #expect(hub.posters.count == 2)
    }
}

import Testing

@testable import DistributedNotifications

/// Horizons of a poster that another hub has served, or that its hub has forgotten, as an observer sees them.
struct HorizonTests {
    private let topic = Topic(name: "a", sender: nil)
    private let poster = PosterID(high: 0, low: 1)

    /// A poster that has posted once, and whose post its hub has accepted and settled.
    private func settledLog(_ hub: inout Hub, date: Int64 = 0, time: Int64) throws -> PosterLog {
        var log = PosterLog(poster, .init(posts: 9, bytes: .max, topics: 9))
        _ = log.add(topic, payload: [], date: date, at: time, dropsOldest: false)
        _ = hub.open(1, poster: poster)
        try hub.announce(log.connect(sharesClock: true), from: 1)
        for post in log.next(atMost: 9) {
            try hub.publish(post, from: 1)
            log.handedOver(post.number)
        }
        _ = log.acknowledge(accepted: 1, settled: 1)
        log.disconnect()
        hub.close(1)
        return log
    }

    private func connect(_ follower: inout Follower, _ id: UInt64, to hub: inout Hub) throws {
        _ = hub.open(id, poster: PosterID(high: 0, low: 2))
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: id)
        follower.connect()
        try hub.subscribe(follower.subscription, from: id)
    }

    /// The events of all that the hub has for the observer at a time.
    private func events(
        _ follower: inout Follower, _ id: UInt64, of hub: inout Hub, at time: Int64 = 0
    ) -> [Follower.Event] {
        var events: [Follower.Event] = []
        while let output = hub.next(for: id) {
            guard case .batch(let batch) = output else { continue }
            for item in batch.items {
                switch item {
                case .post(let post): follower.take(post, in: hub.epoch) { events.append($0) }
                case .horizon(let horizon, _): follower.take(horizon, in: hub.epoch) { events.append($0) }
                case .baseline(let baseline):
                    follower.take(baseline, in: hub.epoch, at: time) { events.append($0) }
                case .ended(let end, _): follower.take(end, in: hub.epoch) { events.append($0) }
                case .present: break
                }
            }
        }
        return events
    }

    @Test func `a poster that its hub has forgotten has lost nothing for a later observer`() throws {
        var limits = Hub.Limits()
        limits.tombstones = 0
        var hub = Hub(Epoch(high: 0, low: 1), limits)
        var log = try settledLog(&hub, time: 10)
        hub.end(poster, last: nil)
        var follower = Follower(Subscription(number: 1, name: "a", sender: nil, start: .now))
        try connect(&follower, 2, to: &hub)
        #expect(events(&follower, 2, of: &hub, at: 20) == [])
        _ = hub.open(3, poster: poster)
        try hub.announce(log.connect(sharesClock: true), from: 3)
        #expect(events(&follower, 2, of: &hub) == [])
    }

    @Test func `a clock that steps back between two hubs makes no gap`() throws {
        var first = Hub(Epoch(high: 0, low: 1))
        var log = try settledLog(&first, date: 150, time: 10)
        var second = Hub(Epoch(high: 0, low: 2))
        var follower = Follower(Subscription(number: 1, name: "a", sender: nil, start: .now))
        try connect(&follower, 2, to: &second)
        #expect(events(&follower, 2, of: &second, at: 20) == [])
        _ = second.open(3, poster: poster)
        try second.announce(log.connect(sharesClock: true), from: 3)
        #expect(events(&follower, 2, of: &second) == [])
    }

    @Test func `a clock that steps back while there are two hubs hides no loss`() throws {
        var first = Hub(Epoch(high: 0, low: 1))
        var second = Hub(Epoch(high: 0, low: 2))
        var follower = Follower(Subscription(number: 1, name: "a", sender: nil, start: .now))
        try connect(&follower, 2, to: &second)
        #expect(events(&follower, 2, of: &second, at: 20) == [])
        var log = try settledLog(&first, date: 50, time: 30)
        _ = second.open(3, poster: poster)
        try second.announce(log.connect(sharesClock: true), from: 3)
        #expect(events(&follower, 2, of: &second).count == 1)
    }

    @Test func `an observer that comes back to a hub that has forgotten an ended poster is told`() throws {
        var limits = Hub.Limits()
        limits.tombstones = 0
        limits.ringPosts = 1
        var hub = Hub(Epoch(high: 0, low: 1), limits)
        var follower = Follower(Subscription(number: 1, name: "a", sender: nil, start: .now))
        try connect(&follower, 2, to: &hub)
        #expect(events(&follower, 2, of: &hub) == [])
        hub.close(2)
        _ = try settledLog(&hub, time: 1)
        hub.end(poster, last: 1)
        let other = PosterID(high: 0, low: 3)
        _ = hub.open(4, poster: other)
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: 4)
        try hub.publish(
            Post(poster: other, number: 1, previous: 0, topic: Topic(name: "b", sender: nil)), from: 4)
        try connect(&follower, 5, to: &hub)
        #expect(events(&follower, 5, of: &hub).count == 1)
    }

    @Test func `a poster that comes from another hub while an observer is away has lost nothing for it`()
        throws
    {
        var first = Hub(Epoch(high: 0, low: 1))
        var log = try settledLog(&first, time: 10)
        var second = Hub(Epoch(high: 0, low: 2))
        var follower = Follower(Subscription(number: 1, name: "a", sender: nil, start: .now))
        try connect(&follower, 2, to: &second)
        #expect(events(&follower, 2, of: &second, at: 20) == [])
        second.close(2)
        _ = second.open(3, poster: poster)
        try second.announce(log.connect(sharesClock: true), from: 3)
        _ = log.add(topic, payload: [], at: 30, dropsOldest: false)
        try second.publish(log.next(atMost: 1)[0], from: 3)
        try connect(&follower, 4, to: &second)
        let found = events(&follower, 4, of: &second)
        #expect(found.count == 1 && found.allSatisfy { if case .notification = $0 { true } else { false } })
    }
}

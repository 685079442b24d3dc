import TestSupport
import Testing

@testable import DistributedNotifications

/// What a hub tells in parts, and what happens meanwhile.
struct HubSurveyTests {
    private let poster = PosterID(high: 0, low: 1)

    private func open(_ id: UInt64, _ hub: inout Hub, named name: PosterID? = nil) throws {
        _ = hub.open(id, poster: name ?? PosterID(high: 1, low: id))
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: id)
    }

    private func topic(_ number: Int) -> Topic { Topic(name: "t\(number)", sender: nil) }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `a subscription that takes many parts to begin misses nothing, and has no gap`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var limits = Hub.Limits()
        // Each message has one part, so that posts arrive between the parts.
        limits.batchBytes = 200
        var hub = Hub(Epoch(high: 0, low: 1), limits)
        try open(1, &hub, named: poster)
        var last: [Int: UInt64] = [:]
        var number: UInt64 = 0
        func publish(_ topicNumber: Int, _ hub: inout Hub) throws {
            number += 1
            let post = Post(
                poster: poster, number: number, previous: last[topicNumber] ?? 0, topic: topic(topicNumber))
            last[topicNumber] = number
            try hub.publish(post, from: 1)
        }
        for index in 0..<200 { try publish(index, &hub) }
        var follower = Follower(Subscription(number: 1, name: nil, sender: nil, start: .now))
        var delivered: [UInt64] = []
        var gaps: [DistributedNotificationGap] = []
        var begunAfter: UInt64?
        func take(_ batch: EngineBatch, _ hub: Hub) {
            for item in batch.items {
                let emit: (Follower.Event) -> Void = { event in
                    switch event {
                    case .notification(let post): delivered.append(post.number)
                    case .gap(let gap): gaps.append(gap)
                    }
                }
                switch item {
                case .post(let post): follower.take(post, in: hub.epoch, emit)
                case .horizon(let horizon, _): follower.take(horizon, in: hub.epoch, emit)
                case .baseline(let baseline): follower.take(baseline, in: hub.epoch, at: 0, emit)
                case .present, .ended: break
                }
            }
            if begunAfter == nil && follower.hasBegun { begunAfter = number }
        }
        for connection: UInt64 in [5, 6] {
            _ = hub.open(connection, poster: PosterID(high: 1, low: 9))
            try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: connection)
            follower.connect()
            try hub.subscribe(follower.subscription, from: connection)
            for _ in 0..<60 {
                try publish(Int.random(in: 0..<300, using: &random), &hub)
                if Int.random(in: 0..<8, using: &random) > 0 { continue }
                guard case .batch(let batch)? = hub.next(for: connection) else { continue }
                take(batch, hub)
                try hub.confirm(batch.number, credits: 8, from: connection)
            }
            var rest = 60
            while let output = hub.next(for: connection) {
                guard case .batch(let batch) = output else { continue }
                take(batch, hub)
                try hub.confirm(batch.number, credits: 8, from: connection)
                if rest > 0, Bool.random(using: &random) {
                    rest -= 1
                    try publish(Int.random(in: 0..<300, using: &random), &hub)
                }
            }
            // Some posts arrive while the observer is not connected.
            hub.close(connection)
            for _ in 0..<20 { try publish(Int.random(in: 0..<300, using: &random), &hub) }
        }
        #expect(gaps == [])
        let begun = try #require(begunAfter)
        #expect(delivered.filter { $0 > begun } == Array((begun + 1)...(number - 20)))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a slow connection that is told of many topics is told of every loss, and of nothing else`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        var limits = Hub.Limits()
        limits.queuedPosts = 4
        limits.missedTopics = 8
        limits.batchBytes = 200
        var hub = Hub(Epoch(high: 0, low: 1), limits)
        try open(1, &hub, named: poster)
        try open(2, &hub)
        var follower = Follower(Subscription(number: 1, name: nil, sender: nil, start: .now))
        try hub.subscribe(follower.subscription, from: 2)
        var (last, number): ([Int: UInt64], UInt64) = ([:], 0)
        var accounted: Set<UInt64> = []
        var delivered: [UInt64] = []
        var sentCount = 0
        func drain(_ most: Int, _ hub: inout Hub) throws {
            for _ in 0..<most {
                guard let output = hub.next(for: 2) else { return }
                guard case .batch(let batch) = output else { continue }
                for item in batch.items {
                    let emit: (Follower.Event) -> Void = { event in
                        switch event {
                        case .notification(let post):
                            #expect(accounted.insert(post.number).inserted)
                            delivered.append(post.number)
                        case .gap(let gap):
                            guard let to = gap.to else { return }
                            accounted.formUnion(gap.from...to)
                        }
                    }
                    switch item {
                    case .post(let post):
                        sentCount += 1
                        follower.take(post, in: hub.epoch, emit)
                    case .horizon(let horizon, _): follower.take(horizon, in: hub.epoch, emit)
                    case .baseline(let baseline): follower.take(baseline, in: hub.epoch, at: 0, emit)
                    case .present, .ended: break
                    }
                }
                try hub.confirm(batch.number, credits: 4, from: 2)
            }
        }
        try drain(9, &hub)
        func publish(_ hub: inout Hub) throws {
            let name = Int.random(in: 0..<120, using: &random)
            number += 1
            try hub.publish(
                Post(poster: poster, number: number, previous: last[name] ?? 0, topic: topic(name)), from: 1)
            last[name] = number
        }
        for _ in 0..<200 { try publish(&hub) }
        for _ in 0..<400 {
            if Int.random(in: 0..<4, using: &random) == 0 { try publish(&hub) }
            try drain(1, &hub)
        }
        for _ in 0..<200 { try publish(&hub) }
        try drain(.max, &hub)
        #expect(Set(1...number).subtracting(accounted) == [])
        // Nothing that was sent was told to be missing before.
        #expect(delivered.count == sentCount)
    }

    @Test func `many subscriptions to many topics take little memory until they are sent`() throws {
        var hub = Hub(Epoch(high: 0, low: 1))
        try open(1, &hub, named: poster)
        for index in 0..<5_000 {
            let number = UInt64(index + 1)
            try hub.publish(
                Post(poster: poster, number: number, previous: 0, topic: topic(index)), from: 1)
        }
        let before = hub.shares.used
        try open(2, &hub)
        for number: UInt64 in 1...200 {
            try hub.subscribe(Subscription(number: number, name: nil, sender: nil, start: .now), from: 2)
        }
        #expect(hub.shares.used - before < 200 * 1_024)
        #expect((hub.connections[2]?.queue.count ?? 0) < 400)
        var begun: Set<UInt64> = []
        while let output = hub.next(for: 2) {
            guard case .batch(let batch) = output else { continue }
            #expect(batch.items.count <= 2_048)
            for case .baseline(let baseline) in batch.items where baseline.isLast {
                begun.insert(baseline.subscription)
            }
        }
        #expect(begun == Set(1...200))
    }
}

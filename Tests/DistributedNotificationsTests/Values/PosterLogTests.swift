import Testing

@testable import DistributedNotifications

struct PosterLogTests {
    private let a = Topic(name: "a", sender: nil)
    private let b = Topic(name: "b", sender: nil)

    private func log(posts: Int = 100, bytes: Int = 1 << 20, topics: Int = 8) -> PosterLog {
        PosterLog(PosterID(high: 1, low: 2), .init(posts: posts, bytes: bytes, topics: topics))
    }

    /// Hands over all that can be, and returns what it was.
    private func handOver(_ log: inout PosterLog) -> [Post] {
        var posts: [Post] = []
        while let post = log.next {
            posts.append(post)
            log.handedOver(post.number)
        }
        return posts
    }

    @Test func `numbers follow one another, and each post names the last one of its topic`() {
        var log = log()
        for topic in [a, b, a, a, b] { _ = log.add(topic, payload: [], dropsOldest: false) }
        _ = log.connect(sharesClock: true)
        let posts = handOver(&log)
        #expect(posts.map(\.number) == [1, 2, 3, 4, 5])
        #expect(posts.map(\.previous) == [0, 0, 1, 3, 2])
    }

    @Test func `a refused post takes no number, and one that drops the oldest does`() {
        var log = log(posts: 2)
        for _ in 1...2 { _ = log.add(a, payload: [], dropsOldest: false) }
        let refused = log.add(a, payload: [], dropsOldest: false)
        #expect(refused == .full && log.lastNumber == 2)
        let added1 = log.add(a, payload: [], dropsOldest: true)
        #expect(added1 == .taken(3, dropped: [1]))
        var few = self.log(topics: 1)
        let added2 = few.add(a, payload: [], dropsOldest: false)
        #expect(added2 == .taken(1, dropped: []))
        let other = few.add(b, payload: [], dropsOldest: true)
        #expect(other == .tooManyTopics && few.lastNumber == 1)
    }

    @Test func `bytes are bounded, and a post that is longer than the bound is kept alone`() {
        var log = log(bytes: 300)
        #expect(
            log.add(a, payload: [UInt8](repeating: 0, count: 1_000), dropsOldest: false)
                == .taken(1, dropped: []))
        let added3 = log.add(a, payload: [], dropsOldest: false)
        #expect(added3 == .full)
        let added4 = log.add(a, payload: [], dropsOldest: true)
        #expect(added4 == .taken(2, dropped: [1]))
    }

    @Test func `posts are kept until they are settled, and are handed over again to the next engine`() {
        var log = log()
        for _ in 1...4 { _ = log.add(a, payload: [], dropsOldest: false) }
        _ = log.connect(sharesClock: true)
        let handed = handOver(&log)
        #expect(handed.count == 4)
        #expect(log.isOwed)
        let hasRoom = log.acknowledge(accepted: 4, settled: 2)
        #expect(hasRoom)
        #expect(!log.isOwed)
        log.disconnect()
        #expect(log.next == nil)
        let opening = log.connect(sharesClock: true)
        #expect(opening.isOpening && opening.number == 2)
        #expect(opening.horizons.map(\.number) == [2])
        let again = handOver(&log)
        #expect(again.map(\.number) == [3, 4])
    }

    @Test func `what was dropped before it was handed over is told`() {
        var log = log(posts: 1)
        _ = log.connect(sharesClock: true)
        for _ in 1...3 { _ = log.add(a, payload: [], dropsOldest: true) }
        let announcement = log.takeAnnouncement()
        #expect(announcement?.horizons.map(\.number) == [2] && announcement?.number == 2)
        #expect(announcement?.horizons.first?.reason == .posterFull)
        let handed = handOver(&log)
        #expect(handed.map(\.number) == [3])
        let more = log.takeAnnouncement()
        #expect(more == nil)
    }

    @Test func `posts that the engine limits take no room, and are sent again`() {
        var log = log(posts: 2, bytes: 300)
        _ = log.connect(sharesClock: true)
        for number in 1...9 as ClosedRange<UInt64> {
            let added = log.add(a, payload: [UInt8](repeating: 0, count: 100), dropsOldest: false)
            #expect(added == .taken(number, dropped: []))
            _ = handOver(&log)
            let hasRoom = log.acknowledge(accepted: number, settled: 0, exempt: number)
            #expect(hasRoom)
        }
        #expect(log.retained.count == 9)
        _ = log.connect(sharesClock: true)
        let again = handOver(&log)
        #expect(again.map(\.number) == Array(1...9))
        // Those that count are full again, and only they are dropped for a loss.
        for number in [10, 11] as [UInt64] {
            let added = log.add(a, payload: [], dropsOldest: false)
            #expect(added == .taken(number, dropped: []))
        }
        let refused = log.add(a, payload: [], dropsOldest: false)
        #expect(refused == .full)
        let added = log.add(a, payload: [], dropsOldest: true)
        #expect(added == .taken(12, dropped: [10]))
        #expect(log.retained.map(\.number) == [11, 12])
    }

    @Test
    func `a horizon has the time of its post if there is a shared clock, and else says if it was accepted`() {
        var log = log(posts: 3)
        for (topic, time) in [(a, 10), (b, 20), (a, 30), (b, 40)] as [(Topic, Int64)] {
            _ = log.add(topic, payload: [], at: time, dropsOldest: true)
            if time == 10 {
                _ = log.connect(sharesClock: true)
                _ = handOver(&log)
                _ = log.acknowledge(accepted: 1, settled: 0)
                log.disconnect()
            }
        }
        _ = log.add(b, payload: [], at: 50, dropsOldest: true)
        // The first post of a was accepted, and the first one of b was not.
        let opening = log.connect(sharesClock: true).horizons
        #expect(opening.map(\.number) == [1, 2] && opening.map(\.time) == [10, 20])
        #expect(opening.map(\.isBase) == [false, false])
        let other = log.connect(sharesClock: false).horizons
        #expect(other.map(\.time) == [.max, .max] && other.map(\.isBase) == [true, false])
    }

    @Test func `an engine cannot acknowledge what was not posted`() {
        var log = log()
        _ = log.add(a, payload: [], dropsOldest: false)
        _ = log.connect(sharesClock: true)
        _ = log.acknowledge(accepted: .max, settled: .max)
        #expect(log.accepted == 1 && log.settled == 1 && log.retained.isEmpty)
        let added5 = log.add(a, payload: [], dropsOldest: false)
        #expect(added5 == .taken(2, dropped: []))
        #expect(log.retained.count == 1)
    }
}

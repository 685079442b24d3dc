import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// Scans of the stream: what they deliver, and what they say of entries that were removed.
@Suite struct StreamScanTests {
    private static let a = PosterID(high: 0, low: 1)
    private static let b = PosterID(high: 0, low: 2)
    private static let old = Subscription(number: 1, name: nil, sender: nil, start: .now)
    private static let new = Subscription(number: 2, name: nil, sender: nil, start: .since(0))

    /// A memory in which the first subscription has begun.
    private static var memory: ReadingMemory {
        var memory = ReadingMemory()
        memory.finish([1])
        return memory
    }

    private func id(_ number: UInt64) -> EntryID { EntryID(high: number, low: 0) }

    private func entry(_ place: UInt64, _ poster: PosterID, _ numbers: ClosedRange<UInt64>) -> StreamEntry {
        StreamEntry(
            id: id(place),
            content: .posts(
                numbers.map {
                    Post(poster: poster, number: $0, previous: $0 - 1, topic: Topic(name: "t", sender: nil))
                }))
    }

    /// The items in short words.
    private func words(_ items: [EngineBatch.Item]) -> [String] {
        items.map { item in
            switch item {
            case .post(let post): "\(post.post.poster.low):\(post.post.number)>\(post.subscription ?? 0)"
            case .horizon(let horizon, let only): "h\(horizon.poster.low):\(horizon.number)>\(only ?? 0)"
            case .ended(let end, let only): "e\(end.poster.low):\(end.accepted)-\(end.last ?? 0)>\(only ?? 0)"
            case .present(let poster): "p\(poster.low)"
            case .baseline(let baseline):
                (baseline.isLast ? "B" : "b")
                    + baseline.marks.map { "\($0.poster.low):\($0.number)" }.sorted().joined(separator: ",")
                    + ">\(baseline.subscription)" + (baseline.hasForgotten ? "?" : "")
            }
        }
    }

    /// The last items of a scan, from all its batches.
    private func ending(_ scan: StreamScan, _ store: StreamScan.Store, at end: EntryID) -> [EngineBatch.Item]
    {
        Array(IteratorSequence(scan.ending(store, at: end)).joined())
    }

    @Test func `a page after removed entries tells what is missing before each poster's first entry`() {
        var scan = StreamScan([Self.old], from: .after(id(5)), Self.memory)
        #expect(words(scan.take([entry(6, Self.a, 1...2)], first: id(5))) == ["1:1>1", "1:2>1"])
        #expect(!scan.isTrimmed)
        // Entries after the sixth were removed before they were read.
        let second = scan.take([entry(9, Self.a, 8...9), entry(10, Self.b, 4...4)], first: id(9))
        #expect(words(second) == ["b1:7>1", "1:8>1", "1:9>1", "b2:3>1", "2:4>1"])
        let store = StreamScan.Store(
            living: [(Self.a, 9), (Self.b, 4), (PosterID(high: 0, low: 3), 7)],
            ended: [(PosterEnd(poster: PosterID(high: 0, low: 4), accepted: 3, last: 5), id(7))])
        #expect(words(ending(scan, store, at: id(10))) == ["e4:3-5>1", "b4:3>1", "B3:7>1"])
    }

    @Test func `a scan from the first entry has lost entries if they are gone from the place that was read`()
    {
        for (start, first, isTrimmed) in [
            (StreamScan.Start.again(id(5)), 5, false), (.again(id(5)), 6, true), (.first, 6, false),
            (.otherGeneration, 6, true),
        ] {
            var scan = StreamScan([Self.old], from: start, Self.memory)
            _ = scan.take([entry(UInt64(first), Self.a, 3...3)], first: id(UInt64(first)))
            #expect(scan.isTrimmed == isTrimmed, "\(start)")
        }
        var scan = StreamScan([Self.old], from: .otherGeneration, Self.memory)
        _ = scan.take([StreamEntry(id: id(1), content: .beginning), entry(2, Self.a, 1...1)], first: id(1))
        #expect(!scan.isTrimmed)
    }

    @Test
    func `a subscription that has missed entries is told of them by its next scan, if this one is cut off`() {
        var memory = Self.memory
        memory.miss([1])
        let scan = StreamScan([Self.old], from: .after(id(9)), memory)
        #expect(scan.isTrimmed)
        memory.finish([1])
        #expect(!StreamScan([Self.old], from: .after(id(9)), memory).isTrimmed)
    }

    @Test
    func `horizons and ends are for the subscriptions of the scan, and what is missing before them is told`()
    {
        let topic = Topic(name: "t", sender: nil)
        let horizon = Horizon(poster: Self.a, topic: topic, number: 3, isBase: false, reason: .notKept)
        let entries = [
            StreamEntry(id: id(8), content: .horizons([horizon], by: Self.a, upTo: 4)),
            StreamEntry(id: id(9), content: .end(PosterEnd(poster: Self.b, accepted: 6, last: 7))),
        ]
        var scan = StreamScan([Self.old], from: .after(id(5)), Self.memory)
        #expect(words(scan.take(entries, first: id(8))) == ["b1:4>1", "h1:3>1", "b2:6>1", "e2:6-7>1"])
        // A subscription that has not begun misses nothing.
        var other = StreamScan([Self.new], from: .first, Self.memory)
        #expect(words(other.take(entries, first: id(8))) == ["e2:6-7>2"])
    }

    @Test func `a poster whose end a subscription has read comes no more, however often the stream is read`()
    {
        var memory = ReadingMemory()
        memory.note(endOf: Self.a, at: id(3))
        memory.finish([1])
        let entries = [
            entry(1, Self.a, 1...2),
            StreamEntry(id: id(3), content: .end(PosterEnd(poster: Self.a, accepted: 2, last: 9))),
            entry(4, Self.b, 1...1),
        ]
        memory.beginRun()
        #expect(memory.unsure == [1] && memory.live.isEmpty)
        var scan = StreamScan([Self.old, Self.new], from: .again(id(3)), memory)
        #expect(words(scan.take(entries, first: id(1))) == ["1:1>2", "1:2>2", "e1:2-9>2", "2:1>1", "2:1>2"])
        // One that has ended since it was live comes.
        memory.note(endOf: Self.b, at: id(5))
        var second = StreamScan([Self.old], from: .again(id(3)), memory)
        #expect(words(second.take([entry(4, Self.b, 1...1)], first: id(1))) == ["2:1>1"])
        memory.finish([1])
        memory.beginRun()
        var third = StreamScan([Self.old], from: .again(id(3)), memory)
        #expect(words(third.take([entry(4, Self.b, 1...1)], first: id(1))) == [])
    }

    @Test func `ends that the server has forgotten are told to those that had not read as far`() {
        var store = StreamScan.Store()
        store.forgotten = id(6)
        for (start, isTold) in [
            (StreamScan.Start.after(id(5)), true), (.after(id(6)), false), (.first, false),
        ] {
            var scan = StreamScan([Self.old], from: start, Self.memory)
            _ = scan.take([entry(9, Self.a, 3...3)], first: id(9))
            #expect(words(ending(scan, store, at: id(9))) == ["B>1" + (isTold ? "?" : "")], "\(start)")
        }
        var follower = Follower(Self.old)
        var gaps: [String] = []
        let epoch = Epoch(high: 0, low: 1)
        for isSecond in [false, true] {
            follower.connect()
            follower.take(
                Baseline(subscription: 1, marks: [], position: id(9), hasForgotten: true), in: epoch,
                at: .min
            ) { event in
                if case .gap(let gap) = event { gaps.append("\(gap)") }
            }
            #expect(gaps.count == (isSecond ? 1 : 0))
        }
        #expect(
            gaps[0].contains("missing 1 to an unknown number from \(DistributedNotification.Poster.unknown)"))
    }

    @Test func `ends are forgotten beyond a number, when the stream has lost their entries`() {
        var ended = EndedPosters()
        for number: UInt64 in 1...4_096 { ended.note(PosterID(high: 1, low: number), at: id(number)) }
        ended.prune(before: id(100))
        #expect(ended.contains(PosterID(high: 1, low: 1), amongFirst: 4_096))
        ended.note(Self.a, at: id(5_000))
        ended.prune(before: id(100))
        #expect(!ended.contains(PosterID(high: 1, low: 99), amongFirst: .max))
        #expect(ended.contains(PosterID(high: 1, low: 100), amongFirst: 100))
        #expect(!ended.contains(PosterID(high: 1, low: 100), amongFirst: 99))
    }
}

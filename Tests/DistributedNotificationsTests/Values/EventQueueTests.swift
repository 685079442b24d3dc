import TestSupport
import Testing

@testable import DistributedNotifications

struct EventQueueTests {
    private let poster = PosterID(high: 0, low: 1)

    private func post(_ number: UInt64, _ name: String = "a", isImmediate: Bool = false) -> Follower.Event {
        .notification(
            Post(
                poster: poster, number: number, previous: 0, topic: Topic(name: name, sender: nil),
                isImmediate: isImmediate))
    }

    private func gap(_ from: UInt64, _ to: UInt64) -> Follower.Event {
        .gap(
            DistributedNotificationGap(
                poster: .init(poster), name: "a", sender: nil, from: from, to: to, reason: .notKept,
                isCertain: true))
    }

    private func queue(
        _ capacity: DistributedNotificationCenter.Capacity,
        _ behavior: DistributedNotificationCenter.SuspensionBehavior = .hold, mostHeld: Int = 100
    ) -> EventQueue {
        EventQueue(capacity, behavior, mostHeld: mostHeld)
    }

    private func expect(
        _ queue: inout EventQueue, _ events: [String], _ location: SourceLocation = #_sourceLocation
    ) {
        let found = drain(&queue)
        #expect(found == events, sourceLocation: location)
    }

    /// Takes all that there is, as short words.
    private func drain(_ queue: inout EventQueue) -> [String] {
        var events: [String] = []
        while let event = queue.next() { events.append(event.short) }
        return events
    }

    @Test func `an unlimited queue keeps everything in order`() {
        var queue = queue(.unlimited)
        for event in [post(1), gap(2, 3), post(4)] { queue.append(event) }
        expect(&queue, ["1", "gap 2-3 notKept", "4"])
        #expect(!queue.hasNext && queue.count == 0)
    }

    // Guarantees: A notification that an observer's capacity or a suspension drops is in a gap in its place.
    @Test func `dropping the oldest leaves one gap before what is left`() {
        var queue = queue(.bounded(2, .dropOldest))
        for number: UInt64 in 1...6 { queue.append(post(number)) }
        #expect(queue.droppedCount == 4)
        expect(&queue, ["gap 1-4 observerBehind", "5", "6"])
    }

    // Guarantees: A notification that an observer's capacity or a suspension drops is in a gap in its place.
    @Test func `dropping the newest leaves one gap before the next of its topic that is kept`() {
        var queue = queue(.bounded(2, .dropNewest))
        for number: UInt64 in 1...4 { queue.append(post(number)) }
        let first = queue.next()
        #expect(first?.short == "1")
        queue.append(post(5))
        expect(&queue, ["2", "gap 3-4 observerBehind", "5"])
        for number: UInt64 in 6...9 { queue.append(post(number)) }
        expect(&queue, ["6", "7", "gap 8-9 observerBehind"])
    }

    @Test func `gaps of several topics are told apart`() {
        var queue = queue(.bounded(1, .dropOldest))
        for event in [post(1), post(2, "b"), post(3), post(4, "b")] { queue.append(event) }
        expect(&queue, ["gap 1-3 observerBehind", "gap 2-2 observerBehind", "4"])
    }

    @Test func `a gap of the engine stays between what was before and behind it`() {
        var queue = queue(.bounded(1, .dropOldest))
        for event in [gap(1, 2), post(3), post(4), post(5)] { queue.append(event) }
        expect(&queue, ["gap 1-2 notKept", "gap 3-4 observerBehind", "5"])
    }

    @Test func `merging keeps the newest in the place of the first, and counts the others`() {
        var queue = queue(.coalescing)
        for event in [post(1), post(2, "b"), post(3), post(4)] { queue.append(event) }
        guard case .notification(let merged)? = queue.next() else { return #expect(Bool(false)) }
        #expect(merged.number == 4 && merged.mergedCount == 2)
        expect(&queue, ["2"])
        queue.append(post(5))
        expect(&queue, ["5"])
    }

    @Test func `nothing is merged over a gap`() {
        var queue = queue(.coalescing)
        for event in [post(1), gap(2, 3), post(4)] { queue.append(event) }
        expect(&queue, ["1", "gap 2-3 notKept", "4"])
    }

    // Guarantees: A notification that an observer's capacity or a suspension drops is in a gap in its place.
    @Test func `a suspended observer that drops gets a gap when it is resumed`() {
        var queue = queue(.unlimited, .drop)
        queue.append(post(1))
        queue.suspend(true)
        for number: UInt64 in 2...4 { queue.append(post(number)) }
        #expect(!queue.hasNext)
        queue.suspend(false)
        expect(&queue, ["1", "gap 2-4 suspended"])
    }

    @Test func `a suspended observer that coalesces gets the newest of each topic`() {
        var queue = queue(.unlimited, .coalesce)
        queue.suspend(true)
        for event in [post(1), post(2, "b"), post(3)] { queue.append(event) }
        expect(&queue, [])
        queue.suspend(false)
        expect(&queue, ["3", "2"])
    }

    @Test func `a suspended observer holds up to its limit, and loses the oldest with a gap`() {
        var queue = queue(.unlimited, .hold, mostHeld: 2)
        queue.suspend(true)
        for number: UInt64 in 1...4 { queue.append(post(number)) }
        expect(&queue, [])
        queue.suspend(false)
        expect(&queue, ["gap 1-2 suspended", "3", "4"])
    }

    @Test func `an observer that delivers immediately is not suspended`() {
        var queue = queue(.unlimited, .deliverImmediately)
        queue.suspend(true)
        queue.append(post(1))
        expect(&queue, ["1"])
    }

    @Test func `a post that is immediate releases what is held before it`() {
        var queue = queue(.unlimited, .hold)
        queue.suspend(true)
        queue.append(post(1))
        queue.append(post(2, isImmediate: true))
        queue.append(post(3))
        expect(&queue, ["1", "2"])
        queue.suspend(false)
        expect(&queue, ["3"])
    }

    @Test func `a gap of the observer's is not extended over a gap of the engine`() {
        var queue = queue(.bounded(1, .dropOldest))
        for event in [gap(1, 2), post(3), post(4), gap(5, 6), post(7), post(8)] { queue.append(event) }
        expect(
            &queue,
            ["gap 1-2 notKept", "gap 3-4 observerBehind", "gap 5-6 notKept", "gap 7-7 observerBehind", "8"])
    }

    // Guarantees: A gap with a known end covers no notification that the observer gets.
    @Test(arguments: 0..<200) func `whatever comes, each number is delivered or in one gap, in order`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let capacities: [DistributedNotificationCenter.Capacity] = [
            .unlimited, .bounded(1, .dropOldest), .bounded(3, .dropOldest), .bounded(1, .dropNewest),
            .bounded(3, .dropNewest),
        ]
        let behaviors: [DistributedNotificationCenter.SuspensionBehavior] = [
            .drop, .hold, .deliverImmediately,
        ]
        var queue = queue(
            capacities.randomElement(using: &random) ?? .unlimited,
            behaviors.randomElement(using: &random) ?? .hold, mostHeld: 2)
        let names = ["a", "b"]
        var (posted, next) = (["a": UInt64(0), "b": 0], ["a": UInt64(1), "b": 1])

        func take(_ event: DistributedNotificationEvent) {
            switch event {
            case .notification(let note):
                #expect(note.number == next[note.name], "\(note.name) \(note.number)")
                next[note.name] = note.number + 1
            case .gap(let gap):
                let name = gap.name ?? ""
                #expect(gap.from == next[name], "\(name) \(gap.from)")
                next[name] = (gap.to ?? 0) + 1
            }
        }
        for _ in 0..<400 {
            let name = names.randomElement(using: &random) ?? "a"
            let number = (posted[name] ?? 0) + 1
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                queue.append(post(number, name, isImmediate: Int.random(in: 0..<8, using: &random) == 0))
                posted[name] = number
            case 5:
                let end = number + UInt64.random(in: 0..<3, using: &random)
                queue.append(
                    .gap(
                        DistributedNotificationGap(
                            poster: .init(poster), name: name, sender: nil, from: number, to: end,
                            reason: .processBehind, isCertain: true)))
                posted[name] = end
            case 6: queue.suspend(Bool.random(using: &random))
            default: if let event = queue.next() { take(event) }
            }
        }
        queue.suspend(false)
        while let event = queue.next() { take(event) }
        for name in names { #expect((next[name] ?? 0) == (posted[name] ?? 0) + 1) }
        #expect(queue.count == 0)
    }

    @Test(arguments: [true, false])
    func `however many topics lose notifications, few gaps wait`(comesAfterGap: Bool) {
        var queue = queue(.bounded(10, .dropOldest))
        if comesAfterGap { queue.append(gap(0, 0)) }
        for number: UInt64 in 1...5_000 { queue.append(post(number, "t\(number)")) }
        let events = drain(&queue)
        // Each topic beyond the first ones is part of the last gap, which comes before what is left.
        #expect(events.count <= EventQueue.mostGaps + 12 && queue.droppedCount == 4_990)
        #expect(events.suffix(11).first == "gap 1-? observerBehind" && events.last == "5000")
    }

    @Test func `gaps that are told one after another are merged beyond a number`() {
        var queue = queue(.bounded(10, .dropNewest))
        for number: UInt64 in 1...5_000 { queue.append(gap(number, number)) }
        queue.append(post(5_001))
        queue.append(gap(5_002, 5_002))
        let events = drain(&queue)
        #expect(events.count == EventQueue.mostGaps + 3)
        #expect(Array(events.suffix(3)) == ["gap 1-? notKept", "5001", "gap 1-? notKept"])
        // When they are taken, there is room again.
        queue.append(gap(30_000, 30_001))
        expect(&queue, ["gap 30000-30001 notKept"])
    }
}

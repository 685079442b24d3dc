import TestExpectations
import TestSupport
import Testing

@testable import Notifications

/// Notifications and messages as asynchronous sequences.
@Suite struct ObservationSequenceTests {
    private struct Tick: NotificationMessage {
        typealias Subject = Feed
        let number: Int
    }

    @Test func `observing begins with the iteration, which delivers later posts in order`() async {
        let center = NotificationCenter()
        let notes = center.notifications(named: .a, bufferingPolicy: .unbounded)
        center.post(Notification(.a, "before"))
        var iterator = notes.makeAsyncIterator()
        center.post(Notification(.a, "1"))
        center.post(Notification(.b, "another name"))
        center.post(Notification(.a, "2"))
        var late = notes.makeAsyncIterator()
        center.post(Notification(.a, "3"))
        for text in ["1", "2", "3"] { #expect(await iterator.next()?.text == text) }
        #expect(await late.next()?.text == "3")
        #expect(iterator.droppedCount == 0)
    }

    // Guarantees: Elements that a sequence drops are counted, in ``ObservationSequence/Iterator/droppedCount``.
    @Test(arguments: 0..<30 as Range<UInt64>)
    func `a sequence keeps and drops elements according to its policy`(
        seed: UInt64
    ) async {
        var random = SplitMix64(seed: seed)
        let room = Int.random(in: 1..<6, using: &random)
        let policies: [ObservationSequence<Tick>.BufferingPolicy] = [
            .unbounded, .oldest(room), .newest(room),
        ]
        let policy = policies[Int(seed % 3)]
        let center = NotificationCenter()
        var iterator = center.messages(for: Tick.self, bufferingPolicy: policy).makeAsyncIterator()
        var kept: [Int] = []
        var dropped = 0
        for number in 0..<200 {
            if Bool.random(using: &random) || kept.isEmpty {
                center.post(Tick(number: number))
                switch policy {
                case .oldest(let room) where kept.count == room: dropped += 1
                case .newest(let room) where kept.count == room:
                    kept.removeFirst()
                    dropped += 1
                    kept.append(number)
                default: kept.append(number)
                }
            } else {
                #expect(await iterator.next()?.number == kept.removeFirst())
            }
            #expect(iterator.droppedCount == dropped)
        }
    }

    @Test func `a sequence of an object or subject sees that very one`() async {
        let center = NotificationCenter()
        let (mine, other) = (Feed(), Feed())
        var notes = center.notifications(named: nil, object: mine, bufferingPolicy: .unbounded)
            .makeAsyncIterator()
        var ticks = center.messages(of: mine, for: Tick.self, bufferingPolicy: .unbounded).makeAsyncIterator()
        for (number, feed) in [other, mine, nil, mine].enumerated() {
            center.post(Notification(.a, "\(number)", object: feed))
            center.post(Tick(number: number), subject: feed)
        }
        for number in [1, 3] {
            #expect(await notes.next()?.text == "\(number)")
            #expect(await ticks.next()?.number == number)
        }
    }

    @Test func `a sequence of a destroyed object is empty, and sees no other object`() async {
        let center = NotificationCenter()
        weak var alive: Feed?
        let notes: ObservationSequence<Notification>
        let ticks: ObservationSequence<Tick>
        do {
            let feed = Feed()
            alive = feed
            notes = center.notifications(named: .a, object: feed, bufferingPolicy: .unbounded)
            ticks = center.messages(of: feed, for: Tick.self, bufferingPolicy: .unbounded)
        }
        #expect(alive == nil)
        var noteIterator = notes.makeAsyncIterator()
        var tickIterator = ticks.makeAsyncIterator()
        center.post(Notification(.a, "somebody else's", object: Feed()))
        center.post(Tick(number: 1), subject: Feed())
        #expect(await noteIterator.next() == nil)
        #expect(await tickIterator.next() == nil)
    }

    @Test func `the object that is observed is not kept alive by an iteration`() {
        let center = NotificationCenter()
        weak var alive: Feed?
        let iterator: ObservationSequence<Notification>.Iterator
        do {
            let feed = Feed()
            alive = feed
            iterator = center.notifications(named: .a, object: feed, bufferingPolicy: .unbounded)
                .makeAsyncIterator()
        }
        #expect(alive == nil)
        #expect(iterator.droppedCount == 0)
    }

    @Test func `a sequence ends when its task is cancelled, and so does the observation`() async {
        let center = NotificationCenter()
        let received = Log<String>()
        let task = Task {
            for await note in center.notifications(named: .a, bufferingPolicy: .unbounded) {
                received.add(note.text)
            }
            return received.entries
        }
        while center.names.snapshot(for: .a) == nil { await Task.yield() }
        center.post(Notification(.a, "1"))
        while received.entries.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value == ["1"])
        center.post(Notification(.a, "2"))
        #expect(received.entries == ["1"])
        #expect(center.names.snapshot(for: .a) == nil)
    }

    @Test func `leaving the loop ends the observation`() async {
        let center = NotificationCenter()
        let task = Task {
            for await note in center.notifications(named: .a, bufferingPolicy: .newest(1)) {
                return note.text
            }
            return "nothing"
        }
        while center.names.snapshot(for: .a) == nil { await Task.yield() }
        center.post(Notification(.a, "1"))
        #expect(await task.value == "1")
        #expect(center.names.snapshot(for: .a) == nil)
    }

    @Test
    func `a sequence does not keep its center, and ends with it, after the buffered elements`()
        async
    {
        var center: NotificationCenter? = NotificationCenter()
        weak let alive = center
        let notes = center?.notifications(named: .a, bufferingPolicy: .unbounded)
        var ticks = center?.messages(for: Tick.self, bufferingPolicy: .unbounded).makeAsyncIterator()
        var iterator = notes?.makeAsyncIterator()
        center?.post(Notification(.a, "kept"))
        center = nil
        #expect(alive == nil)
        #expect(await iterator?.next()?.text == "kept")
        #expect(await iterator?.next() == nil)
        #expect(await ticks?.next() == nil)
        var late = notes?.makeAsyncIterator()
        #expect(await late?.next() == nil)
    }

    @Test func `a task that waits continues when the center is destroyed`() async {
        let task: Task<Int, Never>
        do {
            let center = NotificationCenter()
            let notes = center.notifications(named: .a, bufferingPolicy: .unbounded)
            task = Task {
                var count = 0
                for await _ in notes { count += 1 }
                return count
            }
            while center.names.snapshot(for: .a) == nil { await Task.yield() }
            center.post(name: .a)
        }
        #expect(await task.value == 1)
    }

    @Test func `a policy that keeps nothing is misuse`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = NotificationCenter()
            _ = center.notifications(named: .a, bufferingPolicy: .newest(0)).makeAsyncIterator()
        }
        #expect(result?.message.contains("BufferingPolicy: 0 keeps nothing; use at least 1") == true)
    }
}

import Testing

@testable import Streams

/// The queue of names, as a value.
@Suite struct ResolverQueueTests {
    private typealias Queue = ResolverQueue<Int>

    @Test func `each name gets a thread, up to the limit`() {
        var queue = Queue(useLimit: 2, threadLimit: 4)
        let needsThreads = (1...3).map { queue.add($0, for: "name \($0)").startsThread }
        #expect(needsThreads == [true, true, false])
        let taken = [queue.next(), queue.next()]
        #expect(taken == ["name 1", "name 2"])
        let answered = queue.finish("name 1")
        #expect(answered == [1])
        let last = queue.next()
        #expect(last == "name 3")
        _ = (queue.finish("name 2"), queue.finish("name 3"))
        let ends = [queue.next(), queue.next()]
        #expect(ends == [nil, nil])
        #expect(queue.threadCount == 0 && queue.waitingCount == 0)
        let needsNewThread = queue.add(4, for: "name 4").startsThread
        #expect(needsNewThread)
    }

    @Test func `a name is looked up once for all who await it, and they are answered in the order of asking`()
    {
        var queue = Queue(useLimit: 4, threadLimit: 20)
        let needsThreads = (1...3).map { queue.add($0, for: "name").startsThread }
        #expect(needsThreads == [true, false, false])
        _ = queue.next()
        let (ticket, needsThread) = queue.add(4, for: "name")
        _ = queue.add(5, for: "name")
        #expect(!needsThread)
        let removed = queue.remove(ticket).removed
        #expect(removed == 4)
        let answered = queue.finish("name")
        #expect(answered == [1, 2, 3, 5])
        let removedAgain = queue.remove(ticket).removed
        #expect(removedAgain == nil)
    }

    @Test func `a thread whose name nobody awaits gives its place to another one, up to the second limit`() {
        var queue = Queue(useLimit: 1, threadLimit: 3)
        for number in 1...4 {
            let (ticket, startsThread) = queue.add(number, for: "name \(number)")
            #expect(startsThread == (number < 4))
            if number == 4 { break }
            let name = queue.next()
            #expect(name == "name \(number)")
            let startsAnother = queue.remove(ticket).startsThread
            #expect(!startsAnother)
        }
        #expect(queue.isStuck && queue.threadCount == 3 && queue.abandonedCount == 3)
        let answered = queue.finish("name 2")
        let next = queue.next()
        #expect(answered == [] && next == "name 4")
        #expect(queue.threadCount == 3 && queue.abandonedCount == 2 && !queue.isStuck)
    }

    @Test func `giving up a name starts a thread for a name that waits`() {
        var queue = Queue(useLimit: 1, threadLimit: 2)
        let ticket = queue.add(1, for: "silent").ticket
        _ = queue.next()
        let waits = !queue.add(2, for: "good").startsThread
        let startsThread = queue.remove(ticket).startsThread
        #expect(waits && startsThread)
        let next = queue.next()
        #expect(next == "good")
    }

    @Test func `one who asks again for a name that nobody awaited shares its thread`() {
        var queue = Queue(useLimit: 1, threadLimit: 2)
        for number in 1...100 {
            let (ticket, startsThread) = queue.add(number, for: "silent")
            #expect(startsThread == (number == 1))
            if number == 1 { _ = queue.next() }
            #expect(queue.abandonedCount == 0)
            _ = queue.remove(ticket)
            #expect(queue.abandonedCount == 1)
        }
        #expect(queue.threadCount == 1)
        // The thread is awaited again, beside the one that took its place.
        _ = queue.add(101, for: "other")
        _ = queue.next()
        _ = queue.add(102, for: "silent")
        _ = queue.add(103, for: "third")
        let answered = queue.finish("silent")
        let next = queue.next()
        #expect(answered == [102] && next == nil, "there is one thread too many")
        _ = queue.finish("other")
        let third = queue.next()
        #expect(third == "third")
    }

    @Test func `names that wait and are given up leave nothing behind`() {
        var queue = Queue(useLimit: 1, threadLimit: 1)
        _ = queue.add(0, for: "silent")
        _ = queue.next()
        let kept = queue.add(1, for: "kept").ticket
        for number in 2...10_000 {
            let ticket = queue.add(number, for: "name \(number)").ticket
            _ = queue.remove(ticket)
        }
        #expect(queue.waitingCount == 1 && queue.orderCount <= 32)
        // The same name, given up and asked for again, has its place behind those that waited meanwhile.
        _ = queue.remove(kept)
        _ = queue.add(3, for: "before")
        _ = queue.add(4, for: "kept")
        _ = queue.finish("silent")
        var names: [String] = []
        while let name = queue.next() {
            names.append(name)
            _ = queue.finish(name)
        }
        #expect(names == ["before", "kept"])
        #expect(queue.threadCount == 0)
    }

    @Test func `a name whose thread is refused is left to another thread`() {
        var queue = Queue(useLimit: 2, threadLimit: 2)
        for number in 1...2 { _ = queue.add(number, for: "name \(number)") }
        let stranded = queue.threadWasRefused()
        #expect(stranded == [])
        let taken = [queue.next(), queue.next()]
        #expect(taken == ["name 1", "name 2"])
    }

    @Test func `if all threads are refused, no name is left behind`() {
        var queue = Queue(useLimit: 4, threadLimit: 4)
        let tickets = (1...3).map { queue.add($0, for: "name \($0)").ticket }
        _ = queue.remove(tickets[1])
        let stranded = (1...3).map { _ in queue.threadWasRefused() }
        #expect(stranded == [[], [], [1, 3]])
        #expect(queue.waitingCount == 0 && queue.orderCount == 0)
        let needsThread = queue.add(4, for: "name 4").startsThread
        #expect(needsThread)
    }
}

import Testing

@testable import Streams

/// The queue of names, as a value.
@Suite struct ResolverQueueTests {
    @Test func `each name gets a thread, up to the limit`() {
        var queue = ResolverQueue<Int>(mostThreads: 2)
        let needsThreads = (1...3).map { queue.add($0) }
        #expect(needsThreads == [true, true, false])
        let taken = [queue.next { _ in true }, queue.next { $0 != 2 }]
        #expect(taken == [1, 3], "a name that no connection awaits is skipped")
        let ends = [queue.next { _ in true }, queue.next { _ in true }]
        #expect(ends == [nil, nil])
        let needsNewThreads = (4...6).map { queue.add($0) }
        #expect(needsNewThreads == [true, true, false])
    }

    @Test func `a name whose thread is refused is left to another thread`() {
        var queue = ResolverQueue<Int>(mostThreads: 2)
        for name in 1...2 { _ = queue.add(name) }
        let stranded = queue.threadWasRefused()
        #expect(stranded == [])
        let taken = [queue.next { _ in true }, queue.next { _ in true }]
        #expect(taken == [1, 2])
    }

    @Test func `if all threads are refused, no name is left behind`() {
        var queue = ResolverQueue<Int>(mostThreads: 4)
        for name in 1...3 { _ = queue.add(name) }
        queue.removeAll { $0 == 2 }
        let stranded = (1...3).map { _ in queue.threadWasRefused() }
        #expect(stranded == [[], [], [1, 3]])
        let needsThread = queue.add(4)
        #expect(needsThread)
    }
}

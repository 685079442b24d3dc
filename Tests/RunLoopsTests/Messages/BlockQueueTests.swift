import TestSupport
import Testing

@testable import RunLoops

/// The order in which blocks run in each mode.
@Suite struct BlockQueueTests {
    private let other = RunLoop.Mode("other")

    /// Appends a block that logs its number; modes of nil stand for the common modes.
    private func append(_ number: Int, _ modes: [RunLoop.Mode]?, to queue: inout BlockQueue, _ log: Log<Int>)
    {
        let node = SlabCache.takeNode()
        node.kind = modes == nil ? .block : .blockInModes
        let origin = SourceLocation(#fileID, #line)
        node.store(BlockMessage(body: { log.add(number) }, modes: modes, origin: origin))
        queue.append(node)
    }

    /// Appends a job.
    ///
    /// The job is a block: the queue reads only the kind of a node.
    private func appendJob(
        _ number: Int, _ kind: Node.Kind = .job, to queue: inout BlockQueue, _ log: Log<Int>
    ) {
        let node = SlabCache.takeNode()
        node.kind = kind
        let origin = SourceLocation(#fileID, #line)
        node.store(BlockMessage(body: { log.add(number) }, modes: nil, origin: origin))
        queue.append(node)
    }

    /// Runs the next block.
    ///
    /// - Returns: False if there is no block.
    private func runNext(
        _ queue: inout BlockQueue, in mode: RunLoop.Mode, isCommon: Bool, before end: BlockQueue.End
    ) -> Bool {
        queue.serve(mode, isCommon: isCommon)
        guard let place = queue.next(before: end) else { return false }
        let node = queue.take(place)
        var releaser = NodeReleaser()
        node.move(BlockMessage.self).body()
        releaser.release(node)
        return true
    }

    private func runAll(_ queue: inout BlockQueue, in mode: RunLoop.Mode, isCommon: Bool) {
        let end = queue.end
        while runNext(&queue, in: mode, isCommon: isCommon, before: end) {}
    }

    /// Removes the remaining blocks, whatever their modes, and runs them.
    private func runRest(_ queue: inout BlockQueue) {
        var rest = queue.removeAll()
        var releaser = NodeReleaser()
        while let node = rest.popFirst() {
            node.move(BlockMessage.self).body()
            releaser.release(node)
        }
    }

    /// A call of the queue's method, which changes the queue and so cannot stand in an expectation.
    private func holdsBlock(_ queue: inout BlockQueue, for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        queue.holdsBlock(for: mode, isCommon: isCommon)
    }

    @Test func `blocks run in order, each once`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        for number in 0..<10 { append(number, nil, to: &queue, log) }
        runAll(&queue, in: .default, isCommon: true)
        runAll(&queue, in: .default, isCommon: true)
        #expect(log.entries == Array(0..<10))
        #expect(queue.isEmpty)
    }

    @Test func `a block waits for its mode and keeps its place`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        append(0, [other], to: &queue, log)
        append(1, nil, to: &queue, log)
        append(2, [other, .common], to: &queue, log)
        append(3, [other], to: &queue, log)
        append(4, [.default], to: &queue, log)
        runAll(&queue, in: .default, isCommon: true)
        #expect(log.entries == [1, 2, 4])
        append(5, [other], to: &queue, log)
        runAll(&queue, in: other, isCommon: false)
        #expect(log.entries == [1, 2, 4, 0, 3, 5])
        #expect(queue.isEmpty)
    }

    @Test func `common blocks run in a mode only while that is common`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        append(0, nil, to: &queue, log)
        append(1, [.common], to: &queue, log)
        #expect(!holdsBlock(&queue, for: other, isCommon: false))
        runAll(&queue, in: other, isCommon: false)
        #expect(log.entries == [])
        #expect(holdsBlock(&queue, for: other, isCommon: true))
        runAll(&queue, in: other, isCommon: true)
        #expect(log.entries == [0, 1])
    }

    @Test func `a sweep ends before what was added after it began`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        append(0, [other], to: &queue, log)
        append(1, nil, to: &queue, log)
        let end = queue.end
        append(2, nil, to: &queue, log)
        while runNext(&queue, in: .default, isCommon: true, before: end) {}
        #expect(log.entries == [1])
        runAll(&queue, in: .default, isCommon: true)
        #expect(log.entries == [1, 2])
        runRest(&queue)
    }

    @Test func `a sweep inside a sweep advances the outer one`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        for number in 0..<4 { append(number, nil, to: &queue, log) }
        let end = queue.end
        let first = runNext(&queue, in: .default, isCommon: true, before: end)
        #expect(first)
        runAll(&queue, in: .default, isCommon: true)
        append(4, nil, to: &queue, log)
        let more = runNext(&queue, in: .default, isCommon: true, before: end)
        #expect(!more)
        #expect(log.entries == [0, 1, 2, 3])
        runRest(&queue)
    }

    @Test func `blocks that were put aside are given back too, first ones first`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        append(0, [other], to: &queue, log)
        append(1, [.default], to: &queue, log)
        append(2, [other], to: &queue, log)
        runAll(&queue, in: .default, isCommon: true)
        append(3, nil, to: &queue, log)
        runRest(&queue)
        #expect(log.entries == [1, 0, 2, 3])
        #expect(queue.isEmpty)
    }

    @Test func `while an actor's job is on the stack other ones wait, and keep their place`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        appendJob(1, to: &queue, log)
        appendJob(2, .preferredJob, to: &queue, log)
        appendJob(3, to: &queue, log)
        queue.jobBegins()
        #expect(holdsBlock(&queue, for: .default, isCommon: true))
        runAll(&queue, in: .default, isCommon: true)
        #expect(log.entries == [2])
        #expect(queue.isEmpty)
        appendJob(4, to: &queue, log)
        #expect(!holdsBlock(&queue, for: .default, isCommon: true))
        // Even after a change of modes, no job runs.
        runAll(&queue, in: other, isCommon: false)
        runAll(&queue, in: .default, isCommon: true)
        #expect(log.entries == [2])
        append(5, nil, to: &queue, log)
        queue.jobEnds()
        #expect(holdsBlock(&queue, for: .default, isCommon: true))
        runAll(&queue, in: .default, isCommon: true)
        #expect(log.entries == [2, 1, 3, 4, 5])
    }

    @Test func `jobs are for the common modes`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        appendJob(1, to: &queue, log)
        appendJob(2, .preferredJob, to: &queue, log)
        #expect(!holdsBlock(&queue, for: other, isCommon: false))
        runAll(&queue, in: other, isCommon: false)
        #expect(log.entries == [])
        runAll(&queue, in: other, isCommon: true)
        #expect(log.entries == [1, 2])
    }

    @Test func `a loop that ends finds its jobs among the blocks, in order`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        append(1, nil, to: &queue, log)
        appendJob(2, to: &queue, log)
        append(3, [other], to: &queue, log)
        appendJob(4, .preferredJob, to: &queue, log)
        var releaser = NodeReleaser()
        while let node = queue.nextJob() {
            node.move(BlockMessage.self).body()
            releaser.release(node)
        }
        #expect(log.entries == [2, 4])
        runRest(&queue)
        #expect(log.entries == [2, 4, 1, 3])
    }

    @Test func `blocks of other modes cost nothing to the runs of a mode, whatever they name`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        for number in 0..<10_000 {
            // Blocks of one mode, of a mode of their own, of two modes, and of the common modes.
            let own = RunLoop.Mode("\(number)")
            append(number, [[other], [own], [own, other], nil][number % 4], to: &queue, log)
        }
        let busy = RunLoop.Mode("busy")
        for number in 0..<1_000 {
            #expect(!holdsBlock(&queue, for: busy, isCommon: false))
            runAll(&queue, in: busy, isCommon: false)
            append(number, [busy], to: &queue, log)
            runAll(&queue, in: busy, isCommon: false)
        }
        #expect(log.entries == Array(0..<1_000))
        #expect(queue.looks <= 1_000)
        runRest(&queue)
    }

    @Test func `a block that has run in one mode costs the others of its modes nothing lasting`() {
        var queue = BlockQueue()
        let log = Log<Int>()
        append(-1, [other], to: &queue, log)
        for number in 0..<10_000 {
            append(number, [.default, other], to: &queue, log)
            runAll(&queue, in: .default, isCommon: false)
        }
        // Each of the blocks is looked at some times, when it runs and when the other line drops it.
        #expect(queue.looks < 100_000)
        runAll(&queue, in: other, isCommon: false)
        #expect(log.entries == Array(0..<10_000) + [-1])
        #expect(queue.isEmpty)
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func `in any mix of modes, each sender's order is kept`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var queue = BlockQueue()
        let log = Log<Int>()
        let modes = [RunLoop.Mode.default, other, RunLoop.Mode("third")]
        var wanted: [(number: Int, modes: Set<RunLoop.Mode>)] = []
        var expected: [Int] = []
        for number in 0..<100 {
            let chosen = modes.filter { _ in Bool.random(using: &random) }
            if !chosen.isEmpty {
                append(number, chosen, to: &queue, log)
                wanted.append((number, Set(chosen)))
            }
            if number % 7 == 0, let mode = modes.randomElement(using: &random) {
                runAll(&queue, in: mode, isCommon: false)
                expected += wanted.filter { $0.modes.contains(mode) }.map(\.number)
                wanted.removeAll { $0.modes.contains(mode) }
                #expect(log.entries == expected)
            }
        }
        runRest(&queue)
    }
}

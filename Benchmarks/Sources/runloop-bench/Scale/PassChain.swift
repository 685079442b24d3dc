internal import CThreadControl
internal import Dispatch
internal import RunLoops

/// A block that performs itself again, and times the passes that this makes.
final class PassChain: @unchecked Sendable {
    // Safe because only the loop's thread touches what changes, until it signals the end.
    private let loop: RunLoop
    private let end: Int64
    private var blocks = 0
    private var chunks: [Double] = []
    private var first, last: RunLoop.Statistics?
    private var chunkStart: (time: Int64, passes: Int) = (0, 0)
    private let isOver = DispatchSemaphore(value: 0)

    /// How many blocks there are between two looks at the clock.
    private static let chunk = 64

    init(_ loop: RunLoop, end: Int64) {
        self.loop = loop
        self.end = end
        loop.perform { [self] in next() }
    }

    /// Runs on the loop, twice a pass: when it begins and when it ends.
    private func next() {
        if blocks % Self.chunk == 0, look() {
            isOver.signal()
            return
        }
        blocks += 1
        loop.perform { [self] in next() }
    }

    /// Whether it is over.
    private func look() -> Bool {
        let statistics = loop.statistics
        let now = bench_now()
        if first == nil { first = statistics }
        let passes = statistics.passes - chunkStart.passes
        if blocks > 0, passes > 0 { chunks.append(Double(now - chunkStart.time) / Double(passes)) }
        chunkStart = (now, statistics.passes)
        last = statistics
        return now >= end
    }

    /// Waits for the end: nanoseconds a pass.
    ///
    /// - Throws: If the kernel was not asked once a pass.
    func wait() throws(Miscount) -> Double {
        isOver.wait()
        guard let first, let last else { return 0 }
        let passes = last.passes - first.passes
        let calls = last.kernelCalls - first.kernelCalls
        // The first and the last block may be on different sides of a pass's look.
        if abs(calls - passes) > 1 { throw Miscount(expected: passes, found: calls) }
        return Spread(chunks)?.median ?? 0
    }
}

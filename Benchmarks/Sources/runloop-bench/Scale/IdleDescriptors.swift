internal import CThreadControl
internal import CYardsticks
internal import Dispatch
internal import RunLoops

/// Measures a pass of a loop that has work and polls the kernel, with many watched descriptors that are not ready.
///
/// Read the ratio of 10,000 descriptors to 10 first: a descriptor that is not ready should cost nothing.
struct IdleDescriptors: Measurement {
    private var loops: [IdleDescriptorLoop] = []
    /// The time of a pass, in nanoseconds.
    private var times = SizeFigures([10, 100, 1_000, 10_000], "descriptors")
    private var note: String?

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { try makeLoops() }
        for loop in loops.turns(of: round) {
            stage = "\(loop.size) descriptors"
            loop.number.pin(to: [session.machine.processors[0]])
            let time = try loop.time(length: session.length(.milliseconds(10), quick: .milliseconds(4)))
            if round >= 0 { times.add(time, of: loop.size) }
        }
    }

    /// Makes as many loops as the limit on descriptors allows.
    private mutating func makeLoops() throws {
        for size in times.sizes {
            stage = "\(size) descriptors"
            if DescriptorLimit.allows(size) {
                loops.append(try IdleDescriptorLoop(size))
            } else {
                note = DescriptorLimit.note
            }
        }
    }

    /// Makes all descriptors ready, and counts the calls of their handlers.
    mutating func end(in session: Session) throws {
        defer { loops = [] }
        for loop in loops {
            stage = "\(loop.size) descriptors, the end"
            try loop.end()
        }
    }

    var remarks: [String] {
        [
            "The passes come from a block that performs itself again. Each pass polls the kernel once, which is counted. "
                + "In the end all descriptors are made ready, and each must be reported once."
        ]
    }

    var tables: [Table] {
        [times.table("A pass of a loop with idle descriptors", "ns", .nanoseconds, ratio: "÷ 10")]
    }

    var charts: [Chart] {
        [
            times.chart(
                "A pass of a loop with idle descriptors",
                level: "descriptors that are not ready cost nothing", "RunLoops")
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-S3", "cost of a pass with 10,000 idle descriptors ÷ 10", .atMost(1.2), stretch: .atMost(1),
                figure: times.ratio(of: 10_000), note: note)
        ]
    }
}

/// A loop that watches many idle descriptors.
final class IdleDescriptorLoop: @unchecked Sendable {
    // Safe because only the loop's thread uses `calls`, the only mutable state.
    let size: Int
    let number: ThreadNumber
    private let thread: RunLoopThread
    private let descriptors: [Int32]
    private var calls = 0
    private let isOver = DispatchSemaphore(value: 0)

    /// Starts the loop.
    ///
    /// - Parameter size: The number of descriptors.
    /// - Throws: The error of the system if it is out of threads, or cannot watch a descriptor.
    init(_ size: Int) throws {
        self.size = size
        thread = try RunLoopThread(name: "\(size) idle")
        number = try thread.prepare()
        descriptors = (0..<size).map { _ in bench_event_open(false) }
        try thread.runLoop.performAndWait { [self] in
            for descriptor in descriptors {
                let source = DescriptorSource(OwnedDescriptor(descriptor), interest: .read) {
                    [unowned self] source, _ in
                    source.invalidate()
                    calls += 1
                    if calls == self.size { isOver.signal() }
                }
                try RunLoop.current.add(source, forMode: .default)
            }
        }
    }

    /// Runs passes for `length`.
    ///
    /// - Returns: The nanoseconds of a pass: the median of chunks, which hides interruptions of a few chunks.
    /// - Throws: ``Miscount`` if the loop did not poll the kernel exactly once in each pass.
    func time(length: Duration) throws(Miscount) -> Double {
        let chain = PassChain(thread.runLoop, end: bench_now() + length.nanoseconds)
        return try chain.wait()
    }

    /// Makes all descriptors ready, waits until each was reported, and ends the loop.
    ///
    /// - Throws: ``Miscount`` if a descriptor was not reported.
    func end() throws(Miscount) {
        for descriptor in descriptors { bench_event_write(descriptor) }
        let isComplete = isOver.wait(timeout: .now() + .seconds(120)) == .success
        if !isComplete { throw Miscount(expected: size, found: -1) }
        thread.stop()
        thread.join()
    }
}

/// A block that performs itself again, and times the resulting passes.
final class PassChain: @unchecked Sendable {
    // Safe because only the loop's thread uses the mutable state until that thread signals `isOver`.
    private let loop: RunLoop
    private let end: Int64
    private var blocks = 0
    private var chunks: [Double] = []
    private var first, last: RunLoop.Statistics?
    private var chunkStart: (time: Int64, passes: Int) = (0, 0)
    private let isOver = DispatchSemaphore(value: 0)

    /// The number of blocks between two reads of the clock.
    private static let chunk = 64

    init(_ loop: RunLoop, end: Int64) {
        self.loop = loop
        self.end = end
        loop.perform { [self] in next() }
    }

    /// Runs on the loop, twice in each pass: at its beginning and at its end.
    private func next() {
        if blocks % Self.chunk == 0, endChunk() {
            isOver.signal()
            return
        }
        blocks += 1
        loop.perform { [self] in next() }
    }

    /// Records a chunk, and returns true if the time is over.
    private func endChunk() -> Bool {
        let statistics = loop.statistics
        let now = bench_now()
        if first == nil { first = statistics }
        let passes = statistics.passes - chunkStart.passes
        if blocks > 0, passes > 0 { chunks.append(Double(now - chunkStart.time) / Double(passes)) }
        chunkStart = (now, statistics.passes)
        last = statistics
        return now >= end
    }

    /// Waits for the end of the passes, and returns the nanoseconds of a pass.
    ///
    /// - Throws: ``Miscount`` if the loop did not poll the kernel exactly once in each pass.
    func wait() throws(Miscount) -> Double {
        isOver.wait()
        guard let first, let last else { return 0 }
        let passes = last.passes - first.passes
        let calls = last.kernelCalls - first.kernelCalls
        // The counts can differ by one, because a block runs before or after the poll of its pass.
        if abs(calls - passes) > 1 { throw Miscount(expected: passes, found: calls) }
        return Spread(chunks)?.median ?? 0
    }
}

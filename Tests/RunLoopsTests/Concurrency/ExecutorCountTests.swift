import TestSupport
import Testing

@testable import RunLoops

/// The cost of a hop in numbers that are equal on every machine: allocations, and writes to the kernel.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Allocations.areCounted)) struct ExecutorCountTests {
    /// An actor that counts the allocations of its thread.
    private actor Meter {
        private let loop: RunLoop

        init(_ loop: RunLoop) { self.loop = loop }

        // Safe: the actor holds the loop.
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        /// The number of allocations of this thread.
        var total: Int { Allocations.total }

        /// The number of calls, without which the compiler would omit the hop to an empty method.
        private var touches = 0

        func touch() { touches += 1 }

        /// Counts the allocations of this thread, and of another actor's thread, during calls of that actor.
        ///
        /// Call this from an actor: a reply to code on the default executor would allocate on the other thread.
        func allocations(calling other: Meter, times: Int) async -> (here: Int, there: Int) {
            let there = await other.total
            let here = Allocations.total
            for _ in 0..<times {
                touches += 1
                await other.touch()
            }
            let hereAfter = Allocations.total
            return await (hereAfter - here, other.total - there)
        }
    }

    @Test func `a hop between actors of one loop allocates nothing`() async throws {
        try await withLoopThread { thread in
            let (one, other) = (Meter(thread.runLoop), Meter(thread.runLoop))
            _ = await one.allocations(calling: other, times: 10)
            #expect(await one.allocations(calling: other, times: 1_000) == (0, 0))
        }
    }

    // Guarantees: For a hop to a loop, the library allocates nothing; if the loop is awake, the hop makes no system call.
    @Test func `a hop between two loops allocates nothing on either thread`() async throws {
        try await withLoopThread { thread in
            try await withLoopThread { second in
                let (one, other) = (Meter(thread.runLoop), Meter(second.runLoop))
                // The first messages of a thread allocate slabs, which return and are reused.
                for _ in 0..<3 { _ = await one.allocations(calling: other, times: 1_000) }
                let messages = second.runLoop.statistics.messages
                let allocations = await one.allocations(calling: other, times: 1_000)
                #expect(second.runLoop.statistics.messages - messages >= 1_000)
                // A slab is allocated now and then, while a used one is on its way back.
                #expect(allocations.0 + allocations.1 < 10 || !isOptimized)
            }
        }
    }

    @Test func `a job that a loop enqueues on itself allocates nothing`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            let meter = Meter(loop)
            let before = loop.statistics.messages
            let allocations = await Task(executorPreference: loop.taskExecutor) {
                var least = Int.max
                for _ in 0..<5 {
                    let before = Allocations.total
                    // The loop's own thread enqueues both the hop and the return.
                    for _ in 0..<1_000 { await meter.touch() }
                    least = min(least, Allocations.total - before)
                }
                return least
            }.value
            #expect(loop.statistics.messages - before > 10_000)
            #expect(allocations == 0 || !isOptimized)
        }
    }
}

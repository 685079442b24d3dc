import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// Many hops of many tasks between loops and the default executor: each hop arrives, in the order of its task.
///
/// The environment variable RUNLOOPS_STRESS_HOPS sets their number, up to 100,000,000.
@Suite(.timeLimit(.minutes(60))) struct ExecutorStressTests {
    // Guarantees: No job is lost, and none is run twice.
    @Test(arguments: [1, 4, 16]) func `every hop arrives, on the right thread and in order`(tasks: Int)
        async throws
    {
        let rounds = hopCount / tasks / 3
        try await withLoopThread("left") { left in
            try await withLoopThread("right") { right in
                let places = [Place(left.runLoop, tasks), Place(right.runLoop, tasks)]
                let between = Crossroads(tasks)
                await withTaskGroup(of: Void.self) { group in
                    for task in 0..<tasks {
                        // Half of the tasks prefer a loop, and return to it between their calls.
                        let executor = task.isMultiple(of: 2) ? nil : left.runLoop.taskExecutor
                        group.addTask(executorPreference: executor) {
                            for round in 0..<rounds {
                                await places[0].arrive(task, round)
                                await between.arrive(task, round)
                                await places[1].arrive(task, round)
                            }
                        }
                    }
                }
                for place in places {
                    #expect(await place.log.isComplete(rounds))
                    #expect(await place.strays == 0)
                }
                #expect(await between.log.isComplete(rounds))
            }
        }
    }

    @Test func `hops between two loops that are run by hand arrive in order`() async throws {
        let rounds = hopCount / 20
        let loops = Log<RunLoop>()
        let areReady = [Gate(), Gate()]
        let threads = try (0..<2).map { index in
            try BareThread {
                let loop = RunLoop.current
                // Keeps the run alive between jobs.
                loop.add(Timer(timeInterval: .seconds(3_600), repeats: true) { _ in }, forMode: .default)
                loops.add(loop)
                areReady[index].open()
                loop.run(in: .default)
            }
        }
        for gate in areReady { #expect(gate.wait()) }
        let places = loops.entries.map { Place($0, 1) }
        for round in 0..<rounds { for place in places { await place.arrive(0, round) } }
        for place in places {
            #expect(await place.log.isComplete(rounds))
            #expect(await place.strays == 0)
        }
        for loop in loops.entries { loop.stop() }
        for thread in threads { thread.join() }
    }

    private var hopCount: Int {
        // Safe: the environment does not change while tests run.
        let given = unsafe getenv("RUNLOOPS_STRESS_HOPS").flatMap { unsafe Int(String(cString: $0)) }
        return min(given ?? 20_000, 100_000_000)
    }

    /// The numbers that have arrived from each task.
    private struct Arrivals {
        private var next: [Int]
        private var outOfOrder = 0

        init(_ tasks: Int) { next = Array(repeating: 0, count: tasks) }

        mutating func arrive(_ task: Int, _ number: Int) {
            if next[task] != number { outOfOrder += 1 }
            next[task] = number + 1
        }

        func isComplete(_ count: Int) -> Bool { outOfOrder == 0 && next.allSatisfy { $0 == count } }
    }

    /// A stop on a loop.
    private actor Place {
        private let loop: RunLoop
        private(set) var log: Arrivals
        /// The number of arrivals on another thread.
        private(set) var strays = 0

        init(_ loop: RunLoop, _ tasks: Int) { (self.loop, log) = (loop, Arrivals(tasks)) }

        // Safe: the actor holds the loop.
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        func arrive(_ task: Int, _ number: Int) {
            if !loop.isCurrent { strays += 1 }
            log.arrive(task, number)
        }
    }

    /// A stop on the default executor, or on the executor that the task prefers.
    private actor Crossroads {
        private(set) var log: Arrivals
        init(_ tasks: Int) { log = Arrivals(tasks) }
        func arrive(_ task: Int, _ number: Int) { log.arrive(task, number) }
    }
}

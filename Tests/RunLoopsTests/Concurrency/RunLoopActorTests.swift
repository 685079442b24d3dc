import CRunLoops
import RunLoops
import TestSupport
import Testing

/// Actors that live on a loop by conforming to `RunLoopActor`.
@Suite struct RunLoopActorTests {
    private actor Steps: RunLoopActor {
        nonisolated let runLoop: RunLoop
        private(set) var threads: [CInt] = []
        private(set) var numbers: [Int] = []

        init(on runLoop: RunLoop) { self.runLoop = runLoop }

        func add(_ number: Int) {
            numbers.append(number)
            threads.append(runloops_thread_id())
        }
    }

    @Test func `the actor's code and its performed blocks run on the loop's thread`() async throws {
        let thread = try RunLoopThread(name: "home")
        defer { thread.stop() }
        let steps = Steps(on: thread.runLoop)
        let home = try await thread.runLoop.performAndWait { runloops_thread_id() }
        #expect(steps.perform { $0.add(1) })
        await steps.add(2)
        #expect(await steps.numbers == [1, 2])
        #expect(await steps.threads == [home, home])
    }

    @Test func `performed blocks keep the order of all blocks of the thread`() throws {
        let thread = try RunLoopThread(name: "order")
        defer { thread.stop() }
        let steps = Steps(on: thread.runLoop)
        let seen = Log<Int>()
        for number in 0..<100 {
            steps.perform { steps in
                steps.add(number)
                seen.add(number)
            }
            thread.runLoop.perform { seen.add(number) }
        }
        let numbers = try thread.runLoop.performAndWait { steps.assumeIsolated { $0.numbers } }
        #expect(numbers == Array(0..<100))
        #expect(seen.entries == (0..<100).flatMap { [$0, $0] })
    }

    @Test func `a block for a loop that has ended is destroyed, and releases the actor`() throws {
        let thread = try RunLoopThread(name: "ended")
        thread.stop()
        thread.join()
        weak var released: Steps?
        do {
            let steps = Steps(on: thread.runLoop)
            released = steps
            #expect(!steps.perform { $0.add(1) })
        }
        #expect(released == nil)
    }
}

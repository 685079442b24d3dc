import CRunLoops
import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Groups of threads with loops.
@Suite struct RunLoopThreadGroupTests {
    @Test func `the loops of a group take turns, whatever thread asks`() throws {
        let group = try RunLoopThreadGroup(count: 3, name: "turns")
        defer { group.stop() }
        let loops = group.threads.map(\.runLoop)
        #expect((0..<7).map { _ in group.next() } == [0, 1, 2, 0, 1, 2, 0].map { loops[$0] })
        let asked = Log<RunLoop>()
        // The seven turns above were three, two and two.
        try Threads(4) { _ in for _ in 0..<300 { asked.add(group.next()) } }.join()
        for loop in loops { #expect(asked.entries.count { $0 === loop } == 400) }
    }

    @Test func `each thread has its own loop, which runs, and a name with its index`() throws {
        let group = try RunLoopThreadGroup(count: 2, name: "worker")
        defer { group.stop() }
        #expect(group.threads.map(\.name) == ["worker 0", "worker 1"])
        let numbers = try group.threads.map { try $0.runLoop.performAndWait { runloops_thread_id() } }
        #expect(Set(numbers).count == 2)
        #expect("\(group)" == "group of 2 threads from \"worker 0\"")
    }

    @Test func `a group has as many threads as the process has processors, unless another number is given`()
        throws
    {
        let group = try RunLoopThreadGroup(name: "all")
        defer { group.stop() }
        #expect(group.threads.count == RunLoopThreadGroup.processorCount)
        #expect(RunLoopThreadGroup.processorCount >= 1)
    }

    @Test func `stopping ends all threads, and joining waits for all`() async throws {
        let group = try RunLoopThreadGroup(count: 3, name: "ends")
        #expect(await !group.join(before: .now))
        group.stop()
        #expect(await group.join())
        for thread in group.threads { #expect(!thread.runLoop.perform {}) }
        group.stop()
    }

    @Test func `joining with a deadline returns false while a thread runs`() throws {
        let group = try RunLoopThreadGroup(count: 2, name: "busy")
        let gate = Gate()
        group.threads[1].runLoop.perform { _ = gate.wait() }
        group.stop()
        #expect(!group.join(before: .now + .milliseconds(20)))
        gate.open()
        #expect(group.join())
    }

    @Test func `a group that the kernel refuses leaves no thread and no descriptor`() async {
        await #expect(processExitsWith: .success) {
            // The first loop opens what a process opens once.
            let first = try RunLoopThread(name: "first")
            first.stop()
            await first.join()
            let bound = try boundOfDescriptors()
            let refused = refusal(bound, free: 12) { _ = try RunLoopThreadGroup(count: 64, name: "too many") }
            #expect(refused == EMFILE)
            #expect(openDescriptors(from: bound) == 0)
            #expect(RunLoop.all.isEmpty)
        }
    }

    @Test func `a group of no threads ends with a message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try RunLoopThreadGroup(count: 0, name: "none")
        }
        #expect(result?.message.contains("a group of 0 threads; use one or more") == true)
    }
}

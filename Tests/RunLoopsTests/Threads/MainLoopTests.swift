import TestSupport
import Testing

@testable import RunLoops

/// The main thread's loop, in separate programs, because the testing library owns the tests' main thread.
@Suite struct MainLoopTests {
    /// Runs one of the programs whose main thread runs its loop.
    private func run(_ argument: String) throws -> Program.Ending { try Program("PlainMain").run(argument) }

    @Test func `everything that runs on the main thread is served there, on the main queue`() throws {
        let ways = [
            "timer", "port", "descriptor", "manual source", "block", "block after a delay",
            "block that is waited for", "async", "async from another thread", "asyncAfter",
            "sync from another thread", "dispatch timer", "dispatch group", "queue that targets it", "task",
            "task from another thread", "task that has slept", "task that came from elsewhere",
            "task that awaits a block",
        ]
        let ending = try run("ways")
        #expect(ending.lines == ways.map { "\($0): main thread and main queue" })
        #expect(ending.isSuccess)
    }

    // Guarantees: A block of the main queue that was dispatched before the loop was made, before it ran, or while it was about to
    // sleep, is served.
    @Test
    func `blocks dispatched before the loop ran come in order, after ports, before performed blocks`()
        throws
    {
        let ending = try run("order")
        #expect(ending.lines == ["timer", "port", "queue 1", "queue 2", "queue 3", "block", "timedOut"])
        #expect(ending.isSuccess)
    }

    // Guarantees: Blocks of the main queue run in their order, on the main thread, and never one inside another.
    @Test func `a run inside a block of the main queue serves no other one, and finishes without inputs`()
        throws
    {
        let ending = try run("nested")
        #expect(
            ending.lines == [
                "empty: finished", "port", "timer", "with inputs: finished", "first block ends",
                "second block", "afterwards: handledSource", "afterwards: timedOut",
            ])
        #expect(ending.isSuccess)
    }

    @Test func `a run inside another handler serves the main queue`() throws {
        let ending = try run("inside a handler")
        #expect(
            ending.lines == [
                "block: main thread and main queue", "timer ends", "other queue: main thread only",
                "block: main thread and main queue",
            ])
        #expect(ending.isSuccess)
    }

    @Test func `the main queue is served in the common modes only, and waits meanwhile`() throws {
        let ending = try run("modes")
        #expect(
            ending.lines == [
                "quiet: timedOut", "served in quiet", "task in quiet", "quiet: stopped", "empty: finished",
            ])
        #expect(ending.isSuccess)
    }

    @Test func `serving the main queue is serving a source, and leaves nothing stale`() throws {
        let ending = try run("handled")
        #expect(ending.lines == ["first", "handledSource", "second", "handledSource", "timedOut"])
        #expect(ending.isSuccess)
    }

    @Test func `a run of one pass serves blocks that were dispatched before`() throws {
        let ending = try run("polled")
        #expect(ending.lines == ["missed: 0"])
        #expect(ending.isSuccess)
    }

    @Test func `the main loop goes on until it is stopped`() throws {
        let ending = try run("ends")
        #expect(
            ending.lines == [
                "with a deadline: timedOut", "from the queue: stopped", "before: stopped", "asleep: stopped",
            ])
        #expect(ending.isSuccess)
    }

    @Test func `another thread may ask for the main loop first`() throws {
        let ending = try run("another's")
        #expect(
            ending.lines == ["worker: elsewhere", "block: main thread and main queue", "same: true"])
        #expect(ending.isSuccess)
    }

    @Test func `the blocks of the main queue are timed with the handlers`() throws {
        let ending = try run("timed")
        #expect(ending.lines == ["DispatchQueue.main true"])
        #expect(ending.isSuccess)
    }

    @Test(.disabled(if: ForcedRecording.isOn))
    func `the blocks of the main queue are recorded with the handlers`() throws {
        let ending = try run("recorded")
        #expect(ending.lines == ["2: the block", "1: DispatchQueue.main"])
        #expect(ending.isSuccess)
    }

    // Guarantees: A flood of blocks of the main queue does not keep the loop from its other inputs, and a flood of other inputs
    // does not keep it from the main queue.
    @Test func `a block that performs itself again does not keep the main queue from being served`() throws {
        let ending = try run("busy blocks")
        #expect(ending.lines == ["rounds: 100"])
        #expect(ending.isSuccess)
    }

    // Guarantees: A flood of blocks of the main queue does not keep the loop from its other inputs, and a flood of other inputs
    // does not keep it from the main queue.
    @Test func `a block that dispatches itself again does not keep the loop from its inputs`() throws {
        let ending = try run("busy queue")
        #expect(ending.lines == ["block, descriptor, port, timer"])
        #expect(ending.isSuccess)
    }

    // Guarantees: An idle main queue costs the loop no system call per pass.
    // Guarantees: A pass of a busy loop that watches no descriptor makes no system call; only the main loop checks the main
    // dispatch queue now and then.
    @Test func `an idle main queue costs no system call per pass`() throws {
        let ending = try run("counts")
        #expect(ending.lines == ["busy: true true 0", "another loop: true 0", "asleep: true"])
        #expect(ending.isSuccess)
    }

    // Guarantees: A block of the main queue that was dispatched before the loop was made, before it ran, or while it was about to
    // sleep, is served.
    @Test func `a main loop that is about to sleep misses no dispatched block`() throws {
        let ending = try run("one at a time")
        #expect(ending.lines == ["done"])
        #expect(ending.isSuccess)
    }

    @Test func `a spinning main loop serves the main queue`() throws {
        let ending = try run("spinning")
        #expect(ending.lines == ["served"])
        #expect(ending.isSuccess)
    }

    // Guarantees: Blocks of the main queue run in their order, on the main thread, and never one inside another.
    @Test func `many blocks, messages and dispatched blocks all arrive, in order`() throws {
        let ending = try run("many")
        #expect(ending.lines == ["left: 0 in order: true"])
        #expect(ending.isSuccess)
    }

    @Test
    func `code on the main thread need not be on the main queue, and a wait for its own loop does not hang`()
        throws
    {
        let ending = try run("thread and queue")
        let (both, thread) = ("main thread and main queue", "main thread only")
        #expect(
            ending.lines == [
                "main: \(both)",
                "dispatched synchronously to another queue: \(thread)",
                "a wait for one's own loop: at once, on the \(thread)",
                "another thread: elsewhere false",
                "dispatched synchronously to the main queue: \(both)",
                "and on to another: \(thread)",
                "a wait for one's own loop: at once, on the \(both)",
                "performed: \(both)",
                "performed, and dispatched on: \(thread)",
                "a wait for one's own loop: at once, on the \(both)",
                "task: \(both) at once, on the \(both)",
                "detached task: elsewhere",
            ])
        #expect(ending.isSuccess)
    }
}

import TestSupport
import Testing

@testable import RunLoops

/// The loops of threads.
@Suite struct RunLoopTests {
    @Test func `a thread has one loop, the same each time it asks`() throws {
        try onLoopThread { loop in
            #expect(RunLoop.current === loop)
            #expect(RunLoop.current === RunLoop.current)
            let made = try RunLoop.makeCurrent()
            #expect(made === loop)
            #expect(loop.isCurrent)
        }
    }

    @Test func `a thread that was not started here gets a loop when it asks`() throws {
        let loops = Log<RunLoop>()
        try BareThread {
            let loop = RunLoop.current
            #expect(loop === RunLoop.current)
            #expect(loop.isCurrent)
            loop.perform { loops.add(loop) }
            loop.run()
        }.join()
        #expect(loops.entries.count == 1)
        #expect(!loops.entries[0].isCurrent)
    }

    @Test func `two threads have two loops`() throws {
        try onLoopThread { loop in
            try BareThread {
                #expect(RunLoop.current != loop)
                #expect(!loop.isCurrent)
                #expect(Set([RunLoop.current, loop, RunLoop.current]).count == 2)
            }.join()
        }
    }

    @Test func `the main loop is one, from anywhere, and no other thread's own`() throws {
        let main = RunLoop.main
        try onLoopThread { loop in
            #expect(RunLoop.main === main)
            #expect(!main.isCurrent)
            #expect(loop != main)
        }
    }

    @Test func `the main thread's loop never finishes in a common mode, and does in others`() throws {
        try onLoopThread { _ in
            let core = try LoopCore(
                handle: LoopHandle(),
                executors: unsafe Executors(
                    serial: RunLoop.main.asUnownedSerialExecutor(),
                    task: RunLoop.main.taskExecutor.asUnownedTaskExecutor()),
                isMain: true)
            core.addCommonMode(.init("common"))
            for mode in [RunLoop.Mode.default, .init("common")] {
                #expect(core.run(.init(mode: mode, deadline: .now(), options: [])) == .timedOut)
            }
            let other = LoopCore.Activation(mode: .init("other"), deadline: .never, options: [])
            #expect(core.run(other) == nil)
            core.end()
        }
    }

    @Test func `a loop's name is what its description says`() throws {
        try BareThread {
            let loop = RunLoop.current
            #expect(loop.name == "")
            #expect(loop.description == "unnamed run loop")
            loop.name = "parser"
            #expect(loop.description == "run loop \"parser\"")
        }.join()
    }

    // Guarantees: Every handler of a loop runs on the loop's thread, and never while another one runs, except inside a run that the
    // other one makes.
    @Test func `only the loop's own thread is current, also inside its handlers`() throws {
        let thread = try RunLoopThread(name: "worker")
        defer { thread.stop() }
        let other = try RunLoopThread(name: "other")
        defer { other.stop() }
        #expect(!thread.runLoop.isCurrent)
        let seen = try thread.runLoop.performAndWait {
            try other.runLoop.performAndWait { (thread.runLoop.isCurrent, other.runLoop.isCurrent) }
        }
        #expect(seen == (false, true))
    }
}

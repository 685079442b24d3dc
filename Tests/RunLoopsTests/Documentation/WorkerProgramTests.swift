import RunLoops
import TestSupport
import Testing

/// The program of a worker thread that keeps its loop alive with a port, and of a worker that waits for itself.
@Suite struct WorkerProgramTests {
    /// The one worker thread of a program, made at its first use.
    private final class Worker: Sendable {
        let runLoop: RunLoop
        private let keepAlive = Port<Void>()
        private let finished = Log<RunLoop.RunResult>()
        private let hasEnded = Gate()

        init() throws {
            let (loops, isReady) = (Log<RunLoop>(), Gate())
            try RunLoopThread.detach(name: "worker") { [keepAlive, finished, hasEnded] loop in
                // A run of a loop without inputs would finish at once.
                loop.add(keepAlive, forMode: .default) {}
                loops.add(loop)
                isReady.open()
                finished.add(loop.run(in: .default))
                loop.addEndHandler { hasEnded.open() }
            }
            try #require(isReady.wait())
            runLoop = loops.entries[0]
        }

        /// Ends the port, so that the run of the loop finishes.
        func end() -> [RunLoop.RunResult] {
            keepAlive.invalidate()
            return hasEnded.wait() ? finished.entries : []
        }
    }

    @Test func `work that is performed on the worker runs there, whoever gives it`() throws {
        let worker = try Worker()
        let homes = Log<Bool>()
        for _ in 0..<2 {
            try Threads(3) { _ in
                for _ in 0..<100 { worker.runLoop.perform { homes.add(worker.runLoop.isCurrent) } }
                homes.add(try worker.runLoop.performAndWait { worker.runLoop.isCurrent })
            }.join()
        }
        #expect(homes.entries.count == 606)
        #expect(homes.entries.allSatisfy { $0 })
        #expect(worker.end() == [.finished])
    }

    @Test func `what the worker does later, and by itself, keeps coming`() throws {
        let worker = try Worker()
        let (delayed, fired) = (Gate(), Gate())
        worker.runLoop.perform(after: .milliseconds(1)) { delayed.open() }
        try worker.runLoop.performAndWait {
            _ = Timer.scheduledTimer(withTimeInterval: .milliseconds(1), repeats: false) { _ in fired.open() }
        }
        #expect(delayed.wait())
        #expect(fired.wait())
        #expect(worker.end() == [.finished])
    }

    @Test func `without the port and without work the run returns at once`() throws {
        try onLoopThread { loop in
            #expect(loop.run(in: .default, until: .hang) == .finished)
            let log = Log<String>()
            loop.perform { log.add("work") }
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(log.entries == ["work"])
        }
    }

    @Test func `a thread that waits for its own loop runs the block, and does not hang`() throws {
        let worker = try Worker()
        let isNested = try worker.runLoop.performAndWait {
            try worker.runLoop.performAndWait {
                try worker.runLoop.performAndWait(inModes: [.init("never run")]) { worker.runLoop.isCurrent }
            }
        }
        #expect(isNested)
        #expect(worker.end() == [.finished])
    }
}

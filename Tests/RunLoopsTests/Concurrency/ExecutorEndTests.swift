import TestSupport
import Testing

@testable import RunLoops

/// The jobs of actors whose loop's thread ends.
@Suite(.timeLimit(.minutes(60))) struct ExecutorEndTests {
    /// An actor that owns the thread on which it lives.
    private actor Owner {
        private let thread: RunLoopThread
        private let log: Log<String>
        private var calls = 0

        init(_ log: Log<String>) throws {
            thread = try RunLoopThread(name: "owned")
            self.log = log
        }

        // Safe: the actor holds the thread object, which holds the loop.
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe thread.runLoop.asUnownedSerialExecutor()
        }

        /// Suspends once during the call.
        func call() async -> Bool {
            calls += 1
            await Task.yield()
            return thread.runLoop.isCurrent
        }

        var ended: @Sendable () async -> Bool { { [thread] in await thread.join(before: .hang) } }

        isolated deinit {
            log.add(thread.runLoop.isCurrent ? "on the loop after \(calls)" : "elsewhere")
            thread.stop()
        }
    }

    @Test func `an actor can own its thread, which ends with it, after all calls`() async throws {
        for _ in 0..<100 {
            let log = Log<String>()
            let ended: @Sendable () async -> Bool
            do {
                let owner = try Owner(log)
                ended = await owner.ended
                // No task awaits these calls, so only the calls themselves keep the actor alive.
                for _ in 0..<3 { Task { #expect(await owner.call()) } }
                _ = await owner.call()
            }
            #expect(await ended())
            #expect(log.entries == ["on the loop after 4"])
        }
    }

    // Guarantees: No job is lost, and none is run twice.
    @Test func `jobs that wait when the thread ends are run on it, also those that they enqueue`() throws {
        let log = Log<String>()
        try BareThread {
            let loop = RunLoop.current
            let add = { @Sendable (name: String) in
                #expect(loop.isCurrent)
                #expect(!loop.perform { Issue.record("the loop has ended") })
                log.add(name)
            }
            do {
                try BareThread {
                    enqueueJob(on: loop) {
                        add("another thread's")
                        enqueueJob(on: loop) { add("its own") }
                    }
                }.join()
            } catch { Issue.record(error) }
            enqueueJob(on: loop) { add("the thread's") }
            loop.perform { [canary = Canary { add("destroyed") }] in
                canary.sing()
                log.add("performed")
            }
        }.join()
        #expect(log.entries == ["another thread's", "the thread's", "its own", "destroyed"])
    }

    @Test func `a task that a deinit starts while the thread ends is run on it`() throws {
        let log = Log<Bool>()
        try BareThread {
            let loop = RunLoop.current
            let last = Canary { enqueueJob(on: loop) { log.add(loop.isCurrent) } }
            loop.add(Timer(timeInterval: .seconds(60), repeats: true) { _ in last.sing() }, forMode: .default)
        }.join()
        #expect(log.entries == [true])
    }

    @Test func `a task that the last of all starts is run, too`() throws {
        let log = Log<Bool>()
        try BareThread {
            let loop = RunLoop.current
            loop.keepToTheEnd(Canary { enqueueJob(on: loop) { log.add(loop.isCurrent) } })
        }.join()
        #expect(log.entries == [true])
    }

    @Test func `a job for a mode that never ran is run when the thread ends`() throws {
        let log = Log<Bool>()
        try BareThread {
            let loop = RunLoop.current
            enqueueJob(on: loop) { log.add(loop.isCurrent) }
            loop.run(in: .init("other"))
            #expect(log.entries == [])
        }.join()
        #expect(log.entries == [true])
    }

    @Test func `whatever the race, calls that were made before the thread is stopped end`() async throws {
        for round in 0..<200 {
            let thread = try RunLoopThread(name: "short")
            let loop = thread.runLoop
            let places = Log<Bool>()
            for _ in 0..<20 { enqueueJob(on: loop) { places.add(loop.isCurrent) } }
            for _ in 0..<(round * 3) { _ = ContinuousClock.now }
            thread.stop()
            #expect(joins(thread))
            #expect(places.entries == Array(repeating: true, count: 20))
        }
    }

    private func joins(_ thread: RunLoopThread) -> Bool { thread.join(before: .hang) }

    // Guarantees: Code of an actor that lives on a loop, including its isolated `deinit`, runs on the loop's thread, or the program
    // ends.
    @Test func `a task that comes back to an actor whose thread has ended ends the program, and says why`()
        async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "gone too soon")
            let actor = Resident(thread.runLoop)
            await actor.increment()
            thread.stop()
            try BareThread { thread.join() }.join()
            await actor.increment()
        }
        expect(
            result,
            says:
                "RunLoop.enqueue: a task continues in an actor of run loop \"gone too soon\", whose thread has ended; "
                + "stop the thread when its actors have nothing left to do, "
                + "or let the actor own the thread and stop it in its deinit")
    }
}

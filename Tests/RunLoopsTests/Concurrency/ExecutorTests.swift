import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Actors that live on a loop.
@Suite(.timeLimit(.minutes(60))) struct ExecutorTests {
    // Guarantees: Code of an actor that lives on a loop, including its isolated `deinit`, runs on the loop's thread, or the program
    // ends.
    @Test func `an actor's code runs on the thread of its loop, before and after it has waited`() async throws
    {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            #expect(await actor.increment())
            #expect(await actor.increment())
            #expect(await actor.count == 2)
            let places = await stations(of: actor)
            #expect(places.allSatisfy { $0 })
        }
    }

    private func stations(of actor: isolated Resident) async -> [Bool] {
        var places = [actor.loop.isCurrent]
        await Task.yield()
        places.append(actor.loop.isCurrent)
        try? await Task.sleep(for: .milliseconds(1))
        places.append(actor.loop.isCurrent)
        await MainActor.run {}
        places.append(actor.loop.isCurrent)
        await Task.detached { #expect(!actor.loop.isCurrent) }.value
        places.append(actor.loop.isCurrent)
        return places
    }

    @Test func `a global actor can live on a loop`() async {
        #expect(await LoopActorCode.isOnLoop())
        #expect(await Task { @LoopActor in LoopActor.loop.isCurrent }.value)
        #expect(!LoopActor.loop.isCurrent)
    }

    @LoopActor private enum LoopActorCode {
        static func isOnLoop() -> Bool { LoopActor.loop.isCurrent }
    }

    // Guarantees: Code of an actor that lives on a loop, including its isolated `deinit`, runs on the loop's thread, or the program
    // ends.
    @Test func `a deinit that is isolated runs on the thread of the loop`() async throws {
        actor Owner {
            let loop: RunLoop
            let log: Log<Bool>
            init(_ loop: RunLoop, _ log: Log<Bool>) { (self.loop, self.log) = (loop, log) }
            nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
            isolated deinit { log.add(loop.isCurrent) }
        }
        try await withLoopThread { thread in
            let log = Log<Bool>()
            do { _ = Owner(thread.runLoop, log) }
            // This block is queued behind the deinitializer.
            try await thread.runLoop.performAndWait {}
            #expect(log.entries == [true])
        }
    }

    @Test func `actors of one loop call each other without going through the loop`() async throws {
        try await withLoopThread { thread in
            let (one, other) = (Resident(thread.runLoop), Resident(thread.runLoop))
            let counted = await messages(of: one, calling: other, times: 1_000)
            #expect(counted == 0)
            #expect(await other.count == 1_000)
        }
    }

    private func messages(of one: isolated Resident, calling other: Resident, times: Int) async -> Int {
        let before = one.loop.statistics.messages
        await one.increment(other, times: times)
        return one.loop.statistics.messages - before
    }

    @Test func `a call from elsewhere is one message there`() async throws {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            await actor.increment()
            let before = thread.runLoop.statistics.messages
            await actor.increment()
            #expect(thread.runLoop.statistics.messages == before + 1)
        }
    }

    @Test func `a job wakes a loop that sleeps, with one write`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            try await loop.performAndWait { loop.waitPolicy = .park }
            let actor = Resident(loop)
            await actor.increment()
            waitUntilAsleep(loop)
            let before = loop.statistics
            await actor.increment()
            waitUntilAsleep(loop)
            #expect(loop.statistics.kernelWrites == before.kernelWrites + 1)
            #expect(loop.statistics.wakeUps == before.wakeUps + 1)
        }
    }

    // Guarantees: For a hop to a loop, the library allocates nothing; if the loop is awake, the hop makes no system call.
    @Test func `jobs for a loop that is awake make no system call`() throws {
        try onLoopThread { loop in
            let ran = Shared()
            loop.perform {
                // The loop stays awake while this block runs.
                let sender = Result {
                    try BareThread { for _ in 0..<1_000 { enqueueJob(on: loop) { ran.increment() } } }
                }
                #expect(throws: Never.self) { try sender.get().join() }
            }
            #expect(loop.run(in: .default) == .finished)
            #expect(ran.count == 1_000)
            #expect(loop.statistics.kernelWrites == 0)
        }
    }

    @Test func `an actor's code may run its loop's own members and is where they ask for`() async throws {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            let fired = Log<Bool>()
            await actor.run { actor in
                #expect(actor.loop.currentMode == .default)
                let timer = Timer(timeInterval: .zero, repeats: false) { _ in
                    fired.add(actor.assumeIsolated { $0.loop.isCurrent })
                }
                actor.loop.add(timer, forMode: .default)
            }
            waitUntil("the timer has fired") { fired.entries == [true] }
        }
    }

    @Test func `a job that is timed says what it is`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            try await loop.performAndWait { loop.measuresHandlers = true }
            await Resident(loop).run { _ in
                let end = ContinuousClock.now + .milliseconds(20)
                while ContinuousClock.now < end {}
            }
            // The time of a job is stored after the job has run.
            await yieldUntil("it is timed") { loop.statistics.longestHandler != nil }
            let longest = try #require(loop.statistics.longestHandler)
            #expect(longest.madeAt == "a job of a task or an actor")
            #expect(longest.duration >= .milliseconds(20))
        }
    }
}

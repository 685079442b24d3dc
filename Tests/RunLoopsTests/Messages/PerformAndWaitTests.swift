import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Blocks for whose results another thread or task waits.
@Suite struct PerformAndWaitTests {
    private struct Refusal: Error, Equatable { let number: Int }

    private let never = RunLoop.Mode("never run")

    @Test func `the waiting thread gets the block's result, made on the loop's thread`() throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let result = try thread.runLoop.performAndWait { (41 + 1, thread.runLoop.isCurrent) }
        #expect(result == (42, true))
    }

    @Test func `a block may be one call with a discardable result that is not Sendable`() async throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let fires = Shared()
        try waitBlocking(thread.runLoop, fires)
        try await thread.runLoop.performAndWait {
            Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in fires.increment() }
        }
        try await thread.runLoop.performAndWait(before: .hang) {
            Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in fires.increment() }
        }
        waitUntil("all have fired") { fires.count == 3 }
        // A result that is used is returned.
        let result = try await thread.runLoop.performAndWait { 6 * 7 }
        #expect(result == 42)
    }

    /// Waits in a function that is not asynchronous.
    private func waitBlocking(_ loop: RunLoop, _ fires: Shared) throws {
        try loop.performAndWait {
            Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in fires.increment() }
        }
        let result = try loop.performAndWait { 6 * 7 }
        #expect(result == 42)
    }

    @Test func `the waiting thread gets the block's error`() throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        #expect(throws: Refusal(number: 7)) {
            try thread.runLoop.performAndWait { throw Refusal(number: 7) }
        }
    }

    @Test func `on the loop's own thread a block runs at once`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            loop.perform { log.add(2) }
            let result = try loop.performAndWait(inModes: [.init("never run")], before: .now) {
                log.add(1)
                return "here"
            }
            #expect(result == "here")
            #expect(log.entries == [1])
            #expect(throws: Refusal(number: 1)) { try loop.performAndWait { throw Refusal(number: 1) } }
            loop.run(until: .now)
            #expect(log.entries == [1, 2])
        }
    }

    @Test func `a thread's earlier blocks run before the block that it waits for`() throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let log = Log<Int>()
        for number in 0..<1_000 { thread.runLoop.perform { log.add(number) } }
        #expect(try thread.runLoop.performAndWait { log.entries } == Array(0..<1_000))
    }

    @Test func `a block that has not started when the deadline passes never starts`() throws {
        let thread = try RunLoopThread(name: "busy")
        defer { thread.stop() }
        let release = Gate()
        let log = Log<String>()
        thread.runLoop.perform { #expect(release.wait()) }
        let deadline = ContinuousClock.now + .milliseconds(2)
        #expect(throws: PerformError(.timedOut)) {
            try thread.runLoop.performAndWait(before: deadline) { log.add("late") }
        }
        #expect(ContinuousClock.now >= deadline)
        #expect(throws: PerformError(.timedOut)) {
            try thread.runLoop.performAndWait(before: .now - .seconds(1)) { log.add("too late") }
        }
        release.open()
        try thread.runLoop.performAndWait { log.add("next") }
        #expect(log.entries == ["next"])
    }

    @Test func `a block that is running when the deadline passes is waited for`() throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        // A busy machine can start the block too late. Then the test is repeated with more time.
        for patience in [10, 100, 1_000, 10_000] {
            let deadline = ContinuousClock.now + .milliseconds(patience)
            do {
                let result = try thread.runLoop.performAndWait(before: deadline) {
                    while ContinuousClock.now < deadline + .milliseconds(2) {}
                    return "finished"
                }
                #expect(result == "finished")
                return
            } catch PerformError.Reason.timedOut {}
        }
        Issue.record("the block never started")
    }

    // Guarantees: A wait for a block returns when the loop ends, and a wait for a thread returns when the thread ends, even if a
    // handler ends the thread by `pthread_exit`, or other code cancels it.
    @Test func `a thread's wait fails with loopEnded when the loop ends`() throws {
        let thread = try RunLoopThread(name: "short")
        let waiter = try BareThread { [never] in
            #expect(throws: PerformError(.loopEnded)) {
                try thread.runLoop.performAndWait(inModes: [never]) { Issue.record("no such run") }
            }
        }
        thread.stop()
        waiter.join()
        #expect(thread.join(before: .now + .seconds(30)))
        #expect(throws: PerformError(.loopEnded)) { try thread.runLoop.performAndWait {} }
    }

    @Test func `a task gets the result and the error without blocking`() async throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let isCurrent = try await thread.runLoop.performAndWait { thread.runLoop.isCurrent }
        #expect(isCurrent)
        await #expect(throws: Refusal(number: 3)) {
            try await thread.runLoop.performAndWait { throw Refusal(number: 3) }
        }
    }

    @Test func `a task's wait fails with loopEnded when the loop ends`() async throws {
        let thread = try RunLoopThread(name: "short")
        let task = Task { [never] in
            try await thread.runLoop.performAndWait(inModes: [never]) { Issue.record("no such run") }
        }
        thread.stop()
        await #expect(throws: PerformError(.loopEnded)) { try await task.value }
        await #expect(throws: PerformError(.loopEnded)) { try await thread.runLoop.performAndWait {} }
    }

    @Test func `a cancelled task stops waiting, and the block never starts`() async throws {
        let thread = try RunLoopThread(name: "busy")
        defer { thread.stop() }
        let (isHeld, release) = (Gate(), Gate())
        let log = Log<String>()
        thread.runLoop.perform {
            isHeld.open()
            #expect(release.wait())
        }
        while !isHeld.wait(seconds: 0) { await Task.yield() }
        let task = Task { try await thread.runLoop.performAndWait { log.add("late") } }
        // The loop is blocked, so the block stays in the mailbox. When the block is there, the task waits.
        while thread.runLoop.handle.mailbox.current.node == nil { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        release.open()
        try await thread.runLoop.performAndWait { log.add("next") }
        #expect(log.entries == ["next"])
    }

    @Test func `a task gives up at its deadline, and the block never starts`() async throws {
        let thread = try RunLoopThread(name: "busy")
        defer { thread.stop() }
        let release = Gate()
        let log = Log<String>()
        thread.runLoop.perform { #expect(release.wait()) }
        let deadline = ContinuousClock.now + .milliseconds(2)
        await #expect(throws: PerformError(.timedOut)) {
            try await thread.runLoop.performAndWait(before: deadline) { log.add("late") }
        }
        #expect(ContinuousClock.now >= deadline)
        await #expect(throws: PerformError(.timedOut)) {
            try await thread.runLoop.performAndWait(before: .distantPast) { log.add("too late") }
        }
        release.open()
        let answer = try await thread.runLoop.performAndWait(before: .distantFuture) { "in time" }
        #expect(answer == "in time")
        #expect(try await thread.runLoop.performAndWait(before: .hang) { log.entries } == [])
    }

    @Test func `a task's deadline does not end a block that runs`() async throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        // A busy machine can start the block too late. Then the test is repeated with more time.
        for patience in [10, 100, 1_000, 10_000] {
            let deadline = ContinuousClock.now + .milliseconds(patience)
            do {
                let result = try await thread.runLoop.performAndWait(before: deadline) {
                    while ContinuousClock.now < deadline + .milliseconds(2) {}
                    return "finished"
                }
                #expect(result == "finished")
                return
            } catch PerformError.Reason.timedOut {}
        }
        Issue.record("the block never started")
    }

    @Test func `a task's wait with a deadline fails with loopEnded when the loop ends`() async throws {
        let thread = try RunLoopThread(name: "short")
        let task = Task { [never] in
            try await thread.runLoop.performAndWait(inModes: [never], before: .hang) {}
        }
        thread.stop()
        await #expect(throws: PerformError(.loopEnded)) { try await task.value }
    }

    @Test func `a task that was cancelled before the call gets no block run`() async throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let log = Log<String>()
        let task = Task {
            // Safe: the task is used during the call only.
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            try await thread.runLoop.performAndWait { log.add("late") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await thread.runLoop.performAndWait {}
        #expect(log.entries == [])
    }

    @Test func `a task that is cancelled while the block runs gets its result`() async throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let cancelled = Gate()
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await thread.runLoop.performAndWait {
                started.finish()
                #expect(cancelled.wait())
                return "finished"
            }
        }
        for await _ in starts {}
        task.cancel()
        cancelled.open()
        #expect(try await task.value == "finished")
    }

    @Test func `in any race, a cancelled task gets the result or the block never starts`() async throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        for round in 0..<300 {
            let log = Log<String>()
            let task = Task { try await thread.runLoop.performAndWait { log.add("ran") } }
            for _ in 0..<(round % 50) { _ = ContinuousClock.now }
            task.cancel()
            let outcome = await task.result
            try await thread.runLoop.performAndWait {}
            switch outcome {
            case .success: #expect(log.entries == ["ran"])
            case .failure: #expect(log.entries == [])
            }
        }
    }

    @Test func `an actor that waits gives the block on its own thread`() async throws {
        try await withLoopThread { thread in
            let resident = Resident(thread.runLoop)
            let asksHere = try await resident.asksOnItsThread()
            #expect(asksHere)
        }
    }

    @Test func `the block's captures are released when the wait ends`() throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let gone = Gate()
        try thread.runLoop.performAndWait { [canary = Canary(gone)] in canary.sing() }
        #expect(gone.wait())
    }
}

extension Resident {
    /// True if a block for which the actor waits is sent on the actor's own thread.
    fileprivate func asksOnItsThread() async throws -> Bool {
        let wait = OneShot<Bool>()
        return await wait.value(before: .never, timedOut: false, cancelled: false) {
            wait.decide(loop.isCurrent)
        }
    }
}

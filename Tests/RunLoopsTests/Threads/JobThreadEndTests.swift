import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Jobs of actors and tasks that end the thread of their loop.
///
/// Code that awaits such a job would wait for ever.
@Suite struct JobThreadEndTests {
    private static let report = "RunLoop: its thread was ended inside a job of an actor or a task"

    // Guarantees: If a job ends its thread, by `pthread_exit`, the program ends with a message, because tasks that await the job
    // would wait for ever.
    @Test func `an actor's job that ends its thread ends the program with a message`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "short")
            await Resident(thread.runLoop).run { _ in endThread() }
        }
        #expect(result.message.contains(Self.report))
    }

    @Test func `a job of a task that prefers the loop, and ends its thread, ends the program with a message`()
        async throws
    {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "short")
            await Task(executorPreference: thread.runLoop.taskExecutor) { endThread() }.value
        }
        #expect(result.message.contains(Self.report))
    }

    @Test func `a block beside jobs may end the thread, and the actor's remaining jobs are run`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let thread = try RunLoopThread(name: "short")
            let resident = Resident(thread.runLoop)
            await resident.increment()
            let (isHeld, goesOn) = (Gate(), Gate())
            thread.runLoop.perform {
                isHeld.open()
                #expect(goesOn.wait())
                Child.endThread()
            }
            #expect(isHeld.wait())
            let last = Task { await resident.increment() }
            await yieldUntil("the job is on its way") { thread.runLoop.handle.mailbox.current.node != nil }
            goesOn.open()
            #expect(await last.value)
            #expect(await thread.join(before: .hang))
        }
    }
}

/// Ends the thread; not declared with `Never`, so that the compiler accepts code after a call.
private func endThread() { Child.endThread() }

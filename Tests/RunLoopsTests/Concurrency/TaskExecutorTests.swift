import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Tasks that prefer a loop.
@Suite(.timeLimit(.minutes(60))) struct TaskExecutorTests {
    @Test func `what is isolated to nobody runs on the loop that its task prefers`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            let places = Log<String>()
            let note = { @Sendable (place: String) in if loop.isCurrent { places.add(place) } }
            await Task(executorPreference: loop.taskExecutor) {
                note("body")
                await self.concurrently { note("concurrent function") }
                async let child: Void = note("async let")
                await child
                await withTaskGroup(of: Void.self) { $0.addTask { note("group") } }
                await Plain().run { note("actor without an executor of its own") }
                await Task.yield()
                note("after a yield")
                try? await Task.sleep(for: .milliseconds(1))
                note("after a sleep")
                await MainActor.run { note("main actor") }
                note("after the main actor")
                await Task { note("another task") }.value
                await Task.detached { note("detached task") }.value
            }.value
            #expect(
                places.entries == [
                    "body", "concurrent function", "async let", "group",
                    "actor without an executor of its own", "after a yield", "after a sleep",
                    "after the main actor",
                ])
            #expect(!loop.isCurrent)
        }
    }

    @concurrent private func concurrently(_ body: @Sendable () -> Void) async { body() }

    private actor Plain {
        func run(_ body: @Sendable () -> Void) { body() }
    }

    @Test func `a part of a task can prefer a loop, and the rest goes on elsewhere`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            let inside = await withTaskExecutorPreference(loop.taskExecutor) { await self.isOn(loop) }
            #expect(inside)
            #expect(await !isOn(loop))
        }
    }

    @concurrent private func isOn(_ loop: RunLoop) async -> Bool { loop.isCurrent }

    @Test func `code that is isolated to nobody goes on without going through the loop`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            let counted = await Task(executorPreference: loop.taskExecutor) {
                let before = loop.statistics.messages
                for _ in 0..<100 { await self.concurrently {} }
                return loop.statistics.messages - before
            }.value
            #expect(counted == 0)
        }
    }

    @Test func `a call of the loop's actors is one message there and one back`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            let actor = Resident(loop)
            let counted = await Task(executorPreference: loop.taskExecutor) {
                let before = loop.statistics.messages
                for _ in 0..<100 { await actor.increment() }
                return loop.statistics.messages - before
            }.value
            #expect(counted == 200)
        }
    }

    @Test func `a loop has one task executor, whose tasks go to that loop`() async throws {
        try await withLoopThread { thread in
            try await withLoopThread { other in
                let executor = thread.runLoop.taskExecutor
                #expect(executor === thread.runLoop.taskExecutor)
                #expect(executor !== other.runLoop.taskExecutor)
                let places = await Task(executorPreference: executor) {
                    [
                        thread.runLoop.isCurrent,
                        await Task(executorPreference: other.runLoop.taskExecutor) {
                            other.runLoop.isCurrent
                        }.value,
                        thread.runLoop.isCurrent,
                    ]
                }.value
                #expect(places == [true, true, true])
            }
        }
    }

    @Test func `once the loop's thread has ended its tasks go on elsewhere, and end`() async throws {
        let thread = try RunLoopThread(name: "short")
        let loop = thread.runLoop
        let hasBegun = Gate()
        let (resumed, resume) = AsyncStream<Void>.makeStream()
        let task = Task(executorPreference: loop.taskExecutor) {
            let before = loop.isCurrent
            hasBegun.open()
            for await _ in resumed {}
            return [before, loop.isCurrent]
        }
        #expect(hasBegun.wait())
        try end(thread)
        resume.finish()
        #expect(await task.value == [true, false])
        #expect(await !Task(executorPreference: loop.taskExecutor) { loop.isCurrent }.value)
    }

    private func end(_ thread: RunLoopThread) throws {
        thread.stop()
        try #require(thread.join(before: .hang))
    }

    @Test func `a task that waits in line when the thread ends goes on elsewhere`() async throws {
        let tasks = Log<Task<Bool, Never>>()
        try BareThread {
            let loop = RunLoop.current
            tasks.add(Task(executorPreference: loop.taskExecutor) { loop.isCurrent })
            do {
                try BareThread {
                    tasks.add(Task(executorPreference: loop.taskExecutor) { loop.isCurrent })
                }.join()
            } catch { Issue.record(error) }
        }.join()
        for task in tasks.entries { #expect(await !task.value) }
        #expect(tasks.entries.count == 2)
    }

    @Test func `a task that yields for ever does not keep the thread from ending`() async throws {
        let thread = try RunLoopThread(name: "short")
        let hasBegun = Gate()
        let task = Task(executorPreference: thread.runLoop.taskExecutor) {
            hasBegun.open()
            while !Task.isCancelled { await Task.yield() }
        }
        #expect(hasBegun.wait())
        try end(thread)
        task.cancel()
        await task.value
    }

    @Test func `a task holds the executor that it prefers`() async throws {
        weak var executor: RunLoop.TaskExecutor?
        let (resumed, resume) = AsyncStream<Void>.makeStream()
        let task: Task<Int, Never>
        do {
            let thread = try RunLoopThread(name: "short")
            executor = thread.runLoop.taskExecutor
            let hasBegun = Gate()
            task = Task(executorPreference: thread.runLoop.taskExecutor) {
                hasBegun.open()
                for await _ in resumed {}
                return 42
            }
            #expect(hasBegun.wait())
            try end(thread)
        }
        #expect(executor != nil)
        resume.finish()
        #expect(await task.value == 42)
    }

    @Test func `the executor does not hold the loop`() async throws {
        weak var loop: RunLoop?
        let executor: RunLoop.TaskExecutor
        do {
            let loops = Log<RunLoop>()
            try BareThread { loops.add(RunLoop.current) }.join()
            loop = loops.entries[0]
            executor = loops.entries[0].taskExecutor
        }
        // The watchdog of another test can hold the loop for a moment.
        await yieldUntil("it has gone") { loop == nil }
        // The task runs on the default executor.
        #expect(await Task(executorPreference: executor) { 42 }.value == 42)
    }
}

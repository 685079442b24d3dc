import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The order in which a loop runs the jobs of tasks and actors, among its other work.
@Suite(.timeLimit(.minutes(60))) struct ExecutorOrderTests {
    // Guarantees: Jobs and blocks of one thread run in order, whatever the priorities.
    @Test func `jobs and blocks of another thread keep their order`() throws {
        let loop = LoopActor.loop
        let log = Log<Int>()
        let done = Gate()
        let held = Gate()
        loop.perform { #expect(held.wait()) }
        for number in 0..<1_000 {
            if number.isMultiple(of: 3) {
                loop.perform { log.add(number) }
            } else if number.isMultiple(of: 2) {
                Task { @LoopActor in log.add(number) }
            } else {
                Task(executorPreference: loop.taskExecutor) { log.add(number) }
            }
        }
        loop.perform { done.open() }
        held.open()
        #expect(done.wait())
        #expect(log.entries.elementsEqual(0..<1_000))
    }

    // Guarantees: Jobs and blocks of one thread run in order, whatever the priorities.
    @Test func `jobs and blocks of the loop's own thread keep their order`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            for number in 0..<1_000 {
                if number.isMultiple(of: 2) {
                    loop.perform { log.add(number) }
                } else {
                    Task(executorPreference: loop.taskExecutor) { log.add(number) }
                }
            }
            #expect(loop.run(in: .default) == .finished)
            #expect(log.entries.elementsEqual(0..<1_000))
        }
    }

    // Guarantees: Jobs and blocks of one thread run in order, whatever the priorities.
    @Test func `the priority of a task changes nothing`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            let priorities: [TaskPriority] = [.background, .low, .medium, .high]
            for number in 0..<100 {
                Task(executorPreference: loop.taskExecutor, priority: priorities.randomElement()) {
                    log.add(number)
                }
            }
            #expect(loop.run(in: .default) == .finished)
            #expect(log.entries.elementsEqual(0..<100))
        }
    }

    @Test func `jobs wait while a mode runs that is not common`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let other = RunLoop.Mode("other")
            Task(executorPreference: loop.taskExecutor) { log.add("job") }
            loop.perform(inModes: [other]) { log.add("block") }
            #expect(loop.run(in: other) == .finished)
            #expect(log.entries == ["block"])
            loop.addCommonMode(other)
            #expect(loop.run(in: other) == .finished)
            #expect(log.entries == ["block", "job"])
        }
    }

    // Guarantees: Two jobs of a loop's actors never run inside each other.
    @Test func `a run inside an actor's job serves all but other ones, which keep their place`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let enqueue = { @Sendable (name: String) in enqueueJob(on: loop) { log.add(name) } }
            enqueueJob(on: loop) {
                enqueue("job 1")
                loop.perform { log.add("block") }
                Task(executorPreference: loop.taskExecutor) { log.add("task") }
                loop.add(
                    Timer(timeInterval: .zero, repeats: false) { _ in log.add("timer") }, forMode: .default)
                // The nested run finishes: waiting jobs do not keep it alive.
                #expect(nestedRun(of: loop) == .finished)
                enqueue("job 2")
                #expect(nestedRun(of: loop) == .finished)
                log.add("end of the job")
            }
            enqueue("job 0")
            loop.perform { log.add("block before") }
            #expect(loop.run(in: .default) == .finished)
            let entries = log.entries
            let end = try #require(entries.firstIndex(of: "end of the job"))
            #expect(entries[..<end].sorted() == ["block", "block before", "task", "timer"])
            #expect(Array(entries[(end + 1)...]) == ["job 0", "job 1", "job 2"])
        }
    }

    @Test func `a job that comes while a run inside a job sleeps is run after it`() async throws {
        try await withLoopThread { thread in
            let loop = thread.runLoop
            let actor = Resident(loop)
            let log = Log<String>()
            let isInside = Gate()
            async let nested: Void = actor.run { _ in
                loop.perform { isInside.open() }
                loop.run(until: .hang)
                log.add("end of the job")
            }
            // The awaited work begins on the threads of the pool.
            await yieldUntil("the run is inside") { isInside.wait(seconds: 0) }
            async let late: Void = actor.run { _ in log.add("late job") }
            await yieldUntil("the loop sleeps") { loop.handle.mailbox.current.isArmed }
            loop.stop()
            _ = await (nested, late)
            #expect(log.entries == ["end of the job", "late job"])
        }
    }

    @Test func `a run inside a handler, or inside a task that prefers the loop, serves jobs`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            loop.perform {
                enqueueJob(on: loop) { log.add("job") }
                #expect(nestedRun(of: loop) == .finished)
                log.add("end of the block")
            }
            Task(executorPreference: loop.taskExecutor) {
                enqueueJob(on: loop) { log.add("job") }
                #expect(nestedRun(of: loop) == .finished)
                log.add("end of the task")
            }
            #expect(loop.run(in: .default) == .finished)
            #expect(log.entries == ["job", "job", "end of the task", "end of the block"])
        }
    }

    @Test func `a task that yields for ever keeps no timer, descriptor or block from its turn`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let turns = Log<String>()
            let task = Task(executorPreference: loop.taskExecutor) {
                while !Task.isCancelled { await Task.yield() }
                turns.add("cancelled")
            }
            let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                turns.add("descriptor")
                source.invalidate()
            }
            try loop.add(source, forMode: .default)
            wire.send()
            let timer = Timer(timeInterval: .milliseconds(1), repeats: true) { timer in
                turns.add("timer")
                if turns.entries.count < 5 { return }
                timer.invalidate()
                loop.perform { task.cancel() }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(turns.entries.count(where: { $0 == "timer" }) >= 4)
            #expect(turns.entries.contains("descriptor"))
            #expect(turns.entries.last == "cancelled")
        }
    }

    @Test func `a task that sleeps keeps no run alive, and goes on in the next one`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            Task(executorPreference: loop.taskExecutor) {
                log.add("before")
                try? await Task.sleep(for: .milliseconds(1))
                log.add(loop.isCurrent ? "after" : "elsewhere")
            }
            #expect(loop.run(in: .default) == .finished)
            #expect(log.entries.first == "before")
            while log.entries.count < 2 { loop.run(until: .now + .milliseconds(1)) }
            #expect(log.entries == ["before", "after"])
        }
    }
}

/// A nested run in a function of its own, because the compiler would reject it in a task.
private func nestedRun(of loop: RunLoop) -> RunLoop.RunResult { loop.run(in: .default, until: .hang) }

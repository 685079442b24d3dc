import RunLoops
import TestSupport
import Testing

/// The isolation that handlers of a loop can assume: that of the actors on the loop.
@Suite(.timeLimit(.minutes(60))) struct IsolationTests {
    @Test func `every handler of a loop may assume the isolation of its actors`() throws {
        try onLoopThread { loop in
            let actor = Resident(loop)
            let served = Log<String>()
            let serve = { @Sendable (name: String) in
                actor.assumeIsolated { _ = $0.increment() }
                actor.assertIsolated()
                loop.preconditionIsolated()
                served.add(name)
            }
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send()
            let (port, signals) = (Port<Int>(), Port<Void>())
            loop.perform { serve("block") }
            loop.perform(after: .zero) { serve("delayed block") }
            loop.add(Timer(timeInterval: .zero, repeats: false) { _ in serve("timer") }, forMode: .default)
            loop.add(port, forMode: .default) { _ in serve("port") }
            loop.add(signals, forMode: .default) { serve("signal port") }
            let manual = ManualSource { serve("manual source") }
            loop.add(manual, forMode: .default)
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                wire.drain()
                serve("descriptor")
            }
            try loop.add(source, forMode: .default)
            loop.add(
                RunLoop.Observer(activities: .exit) { _, _ in serve("observer") }, forMode: .default)
            try port.send(1)
            try signals.send()
            manual.signal()
            while Set(served.entries).count < 8 { loop.run(mode: .default, before: .now + .milliseconds(1)) }
            #expect(actor.assumeIsolated { $0.count } == served.entries.count)
        }
    }

    // Guarantees: The checks of isolation take their answer from the thread itself, never from the state of a task.
    @Test func `a loop says that it isolates its own thread, and no other`() throws {
        try onLoopThread { loop in
            #expect(loop.isIsolatingCurrentContext() == true)
            loop.checkIsolated()
            try BareThread {
                #expect(loop.isIsolatingCurrentContext() == false)
                // The result is the same when the thread has a loop of its own.
                #expect(!RunLoop.current.isCurrent || loop.isIsolatingCurrentContext() == false)
            }.join()
        }
    }

    @Test func `what an actor performs on its loop may assume the actor's isolation`() async throws {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            let done = Log<Int>()
            await actor.run { actor in
                actor.loop.perform {
                    done.add(
                        actor.assumeIsolated {
                            $0.increment(); return $0.count
                        })
                }
                actor.increment()
            }
            try await thread.runLoop.performAndWait {}
            #expect(done.entries == [2])
        }
    }

    @Test func `a task that is to begin at once begins inside the handler`() async throws {
        let log = Log<String>()
        try await LoopActor.loop.performAndWait {
            // The loop confirms that the handler is isolated to the actor.
            Task.immediate { @LoopActor in log.add("task") }
            log.add("block")
        }
        #expect(log.entries == ["task", "block"])
    }

    @Test func `a wait on the own loop inside an actor runs the block at once`() async throws {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            let isOnLoop = try await actor.run { actor in
                try actor.loop.performAndWait { actor.assumeIsolated { $0.increment() } }
            }
            #expect(isOnLoop)
            #expect(await actor.count == 1)
        }
    }

    @Test func `awaiting a block of the own loop inside an actor lets the actor's loop go on`() async throws {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            let places = try await performed(by: actor)
            #expect(places == [true, true])
        }
    }

    private func performed(by actor: isolated Resident) async throws -> [Bool] {
        let loop = actor.loop
        let inside = try await loop.performAndWait { actor.assumeIsolated { $0.increment() } }
        return [inside, loop.isCurrent]
    }

    @Test
    func `a cancelled task gives up a block of its loop that has not started, and is on the loop again`()
        async throws
    {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            let other = RunLoop.Mode("never run")
            let task = Task { await self.waits(for: other, actor) }
            task.cancel()
            #expect(await task.value == ["cancelled", "on the loop"])
        }
    }

    private func waits(for mode: RunLoop.Mode, _ actor: isolated Resident) async -> [String] {
        let seen = Log<String>()
        do {
            try await actor.loop.performAndWait(inModes: [mode]) { seen.add("run") }
        } catch { seen.add(error is CancellationError ? "cancelled" : "\(error)") }
        seen.add(actor.loop.isCurrent ? "on the loop" : "elsewhere")
        return seen.entries
    }

    @Test func `cancelling a sleep brings the task back to the loop at once`() async throws {
        try await withLoopThread { thread in
            let actor = Resident(thread.runLoop)
            let task = Task { await self.sleeps(actor) }
            task.cancel()
            #expect(await task.value)
        }
    }

    private func sleeps(_ actor: isolated Resident) async -> Bool {
        do { try await Task.sleep(for: .seconds(3_600)) } catch { return actor.loop.isCurrent }
        return false
    }

    @Test func `another thread may not assume the isolation, and is told`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "somebody's")
            let actor = Resident(thread.runLoop)
            try BareThread { actor.assumeIsolated { _ = $0.increment() } }.join()
        }
        expect(result, says: "Incorrect actor executor assumption")
    }

    @Test func `a check of isolation on another thread ends the program, and says what to do`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "somebody's")
            thread.runLoop.checkIsolated()
        }
        expect(
            result, says: "RunLoop.checkIsolated: called outside the loop's own thread ",
            "(run loop \"somebody's\"); await the actor, or perform a block on the loop")
    }
}

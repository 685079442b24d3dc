import RunLoops
import TestSupport
import Testing

/// The bullets of the README, with a test for each promise; the underlying rules have tests of their own.
///
/// The modules Notifications and MessagePorts test the promises about notifications and about ports between processes.
/// `SimulatedTimeTests`, `SimulatedThreadsTests` and ``WatchdogTests`` test the bullet "Tests and diagnosis".
@Suite struct ReadmePromiseTests {
    @Test func `run loops: what is in another mode waits and is not lost`() throws {
        try onLoopThread { loop in
            let served = Log<String>()
            let now = Port<Void>()
            let later = Port<Int>()
            loop.add(now, forMode: .init("now")) { served.add("now") }
            loop.add(later, forMode: .default) { served.add("later \($0)") }
            try later.send(contentsOf: [1, 2])
            try now.send()
            loop.run(in: .init("now"), until: .distantPast)
            #expect(served.entries == ["now"])
            loop.run(until: .distantPast)
            #expect(served.entries == ["now", "later 1", "later 2"])
        }
    }

    @Test func `run loops: timers are never early, fire in order of adding, and late once`() throws {
        try onLoopThread { loop in
            let fired = Log<Int>()
            let date = ContinuousClock.now + .milliseconds(5)
            for number in 1...3 {
                let timer = Timer(fireAt: date, interval: .zero, repeats: false) { _ in
                    #expect(ContinuousClock.now >= date)
                    fired.add(number)
                }
                loop.add(timer, forMode: .default)
            }
            loop.run(until: date + .milliseconds(1))
            #expect(fired.entries == [1, 2, 3])

            var fires = 0
            let late = Timer(fireAt: .now, interval: .milliseconds(300), repeats: true) { _ in fires += 1 }
            let start = late.fireDate
            loop.add(late, forMode: .default)
            // Three further dates pass before the loop runs.
            while ContinuousClock.now < start + .milliseconds(900) {}
            loop.run(until: .distantPast)
            #expect(fires == 1)
            #expect(late.missedFireCount >= 3)
        }
    }

    @Test func `ports: messages to a loop that is awake arrive in order without a system call`() throws {
        try onLoopThread { loop in
            var received: [Int] = []
            let port = Port<Int>()
            loop.add(port, forMode: .default) { received.append($0) }
            let sender = try RunLoopThread(name: "sender")
            // The loop stays awake while this block runs.
            loop.perform {
                let before = loop.statistics.kernelWrites
                let sent: Void? = try? sender.runLoop.performAndWait {
                    for number in 0..<1_000 { try port.send(number) }
                }
                #expect(sent != nil)
                #expect(loop.statistics.kernelWrites == before)
            }
            while received.count < 1_000 { loop.run(mode: .default, before: .distantFuture) }
            #expect(received == Array(0..<1_000))
            sender.stop()
        }
    }

    @Test func `threads: blocks are performed and waited for, and a wait throws if the loop ends`()
        async throws
    {
        let worker = try RunLoopThread(name: "worker")
        let name = Log<String>()
        worker.runLoop.perform { name.add(RunLoop.current.name) }
        #expect(try await worker.runLoop.performAndWait { name.entries } == ["worker"])
        #expect(try waitBlocking(on: worker) == 42)

        worker.stop()
        await #expect(throws: PerformError(.loopEnded)) {
            while true { try await worker.runLoop.performAndWait {} }
        }
    }

    @Test func `actors: one that lives on a loop stays on its thread, and a task can prefer the loop`()
        async throws
    {
        let worker = try RunLoopThread(name: "worker")
        let loop = worker.runLoop
        let actor = Resident(loop)
        for _ in 0..<100 { #expect(await actor.increment()) }
        #expect(await Task(executorPreference: loop.taskExecutor) { loop.isCurrent }.value)
        worker.stop()
    }

    private func waitBlocking(on worker: RunLoopThread) throws -> Int {
        try worker.runLoop.performAndWait { 42 }
    }
}

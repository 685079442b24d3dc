import CRunLoops
import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// The policy of a loop before it sleeps.
@Suite struct WaitPolicyTests {
    private static let severalProcessors = runloops_usable_processors() > 1

    @Test func `a loop is adaptive at first, and keeps what it is told`() throws {
        try onLoopThread { loop in
            #expect(loop.waitPolicy == .adaptive)
            for policy in [RunLoop.WaitPolicy.park, .spin(for: .microseconds(5)), .adaptive] {
                loop.waitPolicy = policy
                #expect(loop.waitPolicy == policy)
            }
            #expect(RunLoop.WaitPolicy.spin(for: .zero) != .park)
        }
    }

    @Test(.enabled(if: severalProcessors)) func `a spinning loop takes work without any kernel write`() throws
    {
        let thread = try RunLoopThread(name: "spinner")
        defer { thread.stop() }
        let loop = thread.runLoop
        let spins = Gate()
        loop.perform {
            spinForLong(loop)
            loop.add(
                RunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in spins.open() },
                forMode: .default)
        }
        #expect(spins.wait())
        let before = loop.statistics
        // Most blocks arrive during a spin, and this is repeated until three have.
        let deadline = ContinuousClock.Instant.hang
        while loop.statistics.spinHits < before.spinHits + 3, ContinuousClock.now < deadline {
            try loop.performAndWait {}
        }
        let after = loop.statistics
        #expect(after.spinHits >= before.spinHits + 3)
        #expect(after.spinMisses == before.spinMisses)
        #expect(after.kernelWrites == before.kernelWrites)
        #expect(after.wakeUps == before.wakeUps)
        #expect(after.kernelCalls == before.kernelCalls)
    }

    @Test(.enabled(if: severalProcessors)) func `a spin without work ends in sleep, and work ends the sleep`()
        throws
    {
        let thread = try RunLoopThread(name: "spinner")
        defer { thread.stop() }
        let loop = thread.runLoop
        loop.perform { spin(loop, for: .microseconds(50)) }
        try loop.performAndWait {}
        for _ in 0..<5 {
            waitUntilAsleep(loop)
            let before = loop.statistics
            try loop.performAndWait {}
            waitUntilAsleep(loop)
            #expect(loop.statistics.spinMisses > before.spinMisses)
            #expect(loop.statistics.kernelWrites == before.kernelWrites + 1)
        }
    }

    @Test(.enabled(if: severalProcessors)) func `a spinning loop fires its timers, and never early`() throws {
        try onLoopThread { loop in
            spinForLong(loop)
            let date = ContinuousClock.now + .milliseconds(3)
            loop.add(
                Timer(fireAt: date, interval: .zero, repeats: false) { _ in
                    #expect(ContinuousClock.now >= date)
                }, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(loop.statistics.timerFires == 1)
            #expect(loop.statistics.wakeUps == 0)
        }
    }

    @Test(.enabled(if: severalProcessors)) func `a spinning loop sees its descriptors and its deadline`()
        throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            spinForLong(loop)
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in wire.drain() }
            try loop.add(source, forMode: .default)
            let spins = Gate()
            loop.add(RunLoop.Observer(activities: .beforeWaiting) { _, _ in spins.open() }, forMode: .default)
            let writer = try BareThread {
                #expect(spins.wait())
                wire.send()
            }
            let result = loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            writer.join()
            let deadline = ContinuousClock.now + .milliseconds(3)
            #expect(loop.run(in: .default, until: deadline) == .timedOut)
            #expect(ContinuousClock.now >= deadline)
            #expect(loop.statistics.wakeUps == 0)
        }
    }

    @Test func `a parked loop never spins`() throws {
        let thread = try RunLoopThread(name: "parked")
        defer { thread.stop() }
        let loop = thread.runLoop
        loop.perform { loop.waitPolicy = .park }
        try loop.performAndWait {}
        waitUntilAsleep(loop)
        let before = loop.statistics
        for _ in 0..<200 { try loop.performAndWait {} }
        #expect(loop.statistics.spinHits == before.spinHits)
        #expect(loop.statistics.spinMisses == before.spinMisses)
    }

    @Test func `a policy counts from the next wait on`() throws {
        try onLoopThread { loop in
            // A delayed thread finds its deadline passed, and does not wait.
            let wait = {
                let before = loop.statistics.wakeUps
                repeat {
                    _ = loop.run(in: .default, until: .now + .milliseconds(20))
                } while loop.statistics.wakeUps == before
            }
            loop.add(Port<Int>(), forMode: .default) { _ in }
            loop.waitPolicy = .spin(for: .nanoseconds(1))
            wait()
            let spun = loop.statistics.spinMisses
            #expect(spun > 0 || !WaitPolicyTests.severalProcessors)
            loop.waitPolicy = .park
            wait()
            #expect(loop.statistics.spinMisses == spun)
            loop.waitPolicy = .spin(for: .nanoseconds(1))
            wait()
            #expect(loop.statistics.spinMisses > spun || !WaitPolicyTests.severalProcessors)
        }
    }
}

/// Has a loop spin for longer than any test lasts, so that it never sleeps.
private func spinForLong(_ loop: RunLoop) { spin(loop, for: .seconds(3_600)) }

/// Has a loop spin, even if other threads preempt it.
private func spin(_ loop: RunLoop, for length: Duration) {
    loop.waitPolicy = .spin(for: length)
    loop.core("test", "test").waiting.longestGap = .max
}

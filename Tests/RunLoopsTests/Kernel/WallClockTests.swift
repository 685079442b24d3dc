import Glibc
import RunLoops
import TestSupport
import Testing

/// Nothing but a `WallClockTimer` reads the wall clock or waits by it, so the clock can be set forwards or backwards.
@Suite struct WallClockTests {
    @Test func `a loop with timers and deadlines does not look at the wall clock`() throws {
        try BareThread {
            // For each new base, libevent reads the clock once, for a cache that is not used.
            let loop = RunLoop.current
            let uses = Faults.wallClockUses {
                var fires = 0
                loop.add(
                    Timer(timeInterval: .milliseconds(1), repeats: true) { timer in
                        fires += 1
                        if fires == 3 { timer.invalidate() }
                    }, forMode: .default)
                loop.perform(after: .milliseconds(1)) {}
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(fires == 3)
                loop.add(Port<Int>(), forMode: .default) { _ in }
                #expect(loop.run(in: .default, until: .now + .milliseconds(2)) == .timedOut)
                loop.waitPolicy = .spin(for: .milliseconds(1))
                #expect(loop.run(in: .default, until: .now + .milliseconds(2)) == .timedOut)
            }
            #expect(uses == 0)
        }.join()
    }

    @Test func `waits for other threads do not look at the wall clock either`() throws {
        let worker = try RunLoopThread(name: "worker")
        let full = Port<Int>(queueLimit: 1)
        try full.send(0)
        try BareThread {
            let soon = { ContinuousClock.now + .milliseconds(2) }
            let uses = Faults.wallClockUses {
                let busy = Gate()
                worker.runLoop.perform { #expect(busy.wait()) }
                #expect(throws: PerformError(.timedOut)) {
                    try worker.runLoop.performAndWait(before: soon()) {}
                }
                #expect(throws: PortSendError<Int>.self) { try full.send(1, before: soon()) }
                #expect(!worker.join(before: soon()))
                busy.open()
                worker.stop()
                #expect(worker.join(before: .hang))
            }
            #expect(uses == 0)
        }.join()
    }

    @Test func `the test detects a read of the wall clock`() {
        #expect(Faults.wallClockUses { _ = time(nil) } == 1)
        #expect(
            Faults.wallClockUses {
                let now = UnsafeMutablePointer<timespec>.allocate(capacity: 1)
                // Safe: the kernel fills memory of this test.
                _ = unsafe clock_gettime(CLOCK_REALTIME, now)
                unsafe now.deallocate()
            } == 1)
    }
}

import TestSupport
import Testing

@testable import RunLoops

/// Messages that arrive when a loop has found no work, and is about to wait.
@Suite struct LateMessageTests {
    /// Work that calls a closure during the loop's last check for work.
    private final class LastMoment: DeferredWork {
        var isNext = false
        let perform: () -> Void

        init(perform: @escaping () -> Void) { self.perform = perform }

        func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
            // The loop calls this after it has checked its mailbox, as its last check.
            if isNext { perform() }
            isNext = false
            return false
        }

        func performWork(for mode: RunLoop.Mode, isCommon: Bool) {}

        func discardWork() {}
    }

    @Test(arguments: [RunLoop.WaitPolicy.park, .spin(for: .seconds(10))])
    func `messages that always come just before the wait do not starve a descriptor`(
        policy: RunLoop.WaitPolicy
    ) throws {
        try onLoopThread { loop in
            loop.waitPolicy = policy
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            let other = try RunLoopThread(name: "other")
            defer {
                other.stop()
                other.join()
            }
            let messages = Log<Void>()
            let lastMoment = LastMoment {
                try? other.runLoop.performAndWait {
                    _ = loop.perform {
                        messages.add(())
                        if messages.entries.count == 100 { loop.stop() }
                    }
                }
            }
            loop.addPassEndWork(lastMoment)
            loop.add(
                RunLoop.Observer(activities: .beforeWaiting) { _, _ in lastMoment.isNext = true },
                forMode: .default)
            var reads = 0
            let source = DescriptorSource(pipe.near, interest: .read) { _, _ in reads += 1 }
            try loop.add(source, forMode: .default)
            pipe.send()
            #expect(loop.run(in: .default) == .stopped)
            // A spinning loop polls descriptors every few microseconds, not in every pass.
            #expect(policy == .park ? reads == 100 : reads > 0)
        }
    }
}

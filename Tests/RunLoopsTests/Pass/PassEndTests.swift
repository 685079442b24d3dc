import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Blocks at the end of a pass.
@Suite struct PassEndTests {
    // Guarantees: A block that a handler adds with ``RunLoop/performAtEndOfPass(_:)`` runs once, in the same pass, after the
    // handlers and before the loop sleeps.
    @Test func `a block runs once, after the handlers of the pass and before the loop sleeps`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let observer = RunLoop.Observer(activities: [.beforeTimers, .beforeWaiting, .exit]) {
                _, activity in
                log.add(activity == .beforeTimers ? "pass" : activity == .exit ? "exit" : "sleep")
            }
            loop.add(observer, forMode: .default)
            for number in 1...2 {
                let source = ManualSource {}
                let timer = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in
                    log.add("timer \(number)")
                    loop.performAtEndOfPass { log.add("end \(number)") }
                }
                loop.add(source, forMode: .default)
                loop.add(timer, forMode: .default)
            }
            loop.perform { log.add("block") }
            loop.run(in: .default, until: .now + .milliseconds(5))
            let expected = ["pass", "block", "timer 1", "timer 2", "end 1", "end 2", "pass"]
            #expect(Array(log.entries.prefix(expected.count)) == expected)
            #expect(log.entries.filter { $0.hasPrefix("end") } == ["end 1", "end 2"])
            #expect(log.entries.contains("sleep"))
        }
    }

    @Test func `a block of a block's waits for the end of the next pass, and the loop does not sleep before`()
        throws
    {
        try onLoopThread { loop in
            let log = Log<Int>()
            let sleeps = Shared()
            let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in sleeps.increment() }
            loop.add(observer, forMode: .default)
            let timer = Timer(timeInterval: .seconds(1_000), repeats: true) { _ in }
            loop.add(timer, forMode: .default)
            func add(_ number: Int) {
                loop.performAtEndOfPass {
                    log.add(number)
                    if number == 5 { loop.stop() } else { add(number + 1) }
                }
            }
            add(0)
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(log.entries == Array(0...5) && sleeps.count == 0)
        }
    }

    @Test func `without a run a block waits for one, in any mode, and keeps the mode alive for a pass`()
        throws
    {
        try onLoopThread { loop in
            let log = Log<Int>()
            loop.performAtEndOfPass { log.add(1) }
            loop.performAtEndOfPass { log.add(2) }
            #expect(log.entries == [])
            #expect(loop.run(in: RunLoop.Mode("private"), until: .hang) == .finished)
            #expect(log.entries == [1, 2])
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(log.entries == [1, 2])
        }
    }

    @Test func `a run inside a handler runs the handler's block in its first pass`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            loop.perform {
                loop.performAtEndOfPass { log.add("end") }
                loop.run(in: RunLoop.Mode("inner"), until: .distantPast)
                log.add("handler")
            }
            loop.run(in: .default, until: .distantPast)
            #expect(log.entries == ["end", "handler"])
        }
    }

    @Test func `a block may run the loop, which runs the blocks that are added then`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            loop.performAtEndOfPass {
                log.add(1)
                loop.performAtEndOfPass { log.add(2) }
                loop.run(in: .default, until: .distantPast)
                log.add(3)
                loop.performAtEndOfPass { log.add(5) }
            }
            loop.performAtEndOfPass { log.add(4) }
            loop.run(in: .default, until: .distantPast)
            loop.run(in: .default, until: .distantPast)
            #expect(log.entries == [1, 2, 3, 4, 5])
        }
    }

    @Test func `the loop is not asked once there is no block`() throws {
        try onLoopThread { loop in
            loop.performAtEndOfPass {}
            loop.run(in: .default, until: .distantPast)
            #expect(loop.coreIfCurrent?.deferredWork.asksAtPassEnd == false)
        }
    }

    @Test func `at the loop's end blocks are destroyed on its thread, uncalled, and later ones at once`()
        throws
    {
        let isGone = Gate()
        try BareThread {
            let loop = RunLoop.current
            let canary = Canary {
                #expect(loop.isCurrent)
                isGone.open()
            }
            loop.performAtEndOfPass {
                canary.sing()
                Issue.record("the loop has ended")
            }
        }.join()
        #expect(isGone.wait())
    }

    @Test func `a block for the loop of another thread is misuse`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "other")
            thread.runLoop.performAtEndOfPass {}
        }
        #expect(result?.message.contains("RunLoop.performAtEndOfPass: ") == true)
    }
}

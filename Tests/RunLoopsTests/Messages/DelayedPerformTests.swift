import RunLoops
import TestSupport
import Testing

/// Blocks that run after a delay, unless they are cancelled.
@Suite struct DelayedPerformTests {
    private let custom = RunLoop.Mode("custom")
    private let hour = Duration.seconds(3_600)

    @Test func `a block never runs before its time`() throws {
        try onLoopThread { loop in
            let ranAt = Log<ContinuousClock.Instant>()
            var earliest: [ContinuousClock.Instant] = []
            for milliseconds in [7, 3, 5, 0] {
                earliest.append(.now + .milliseconds(milliseconds))
                loop.perform(after: .milliseconds(milliseconds)) { ranAt.add(.now) }
            }
            loop.run()
            #expect(ranAt.entries.count == 4)
            for (ran, earliest) in zip(ranAt.entries, earliest.sorted()) { #expect(ran >= earliest) }
        }
    }

    @Test func `after zero or less a block still runs in a later pass, in order of giving`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            loop.perform(after: .zero) { log.add(1) }
            loop.perform(after: .seconds(-5)) { log.add(2) }
            loop.perform(after: .zero) { log.add(3) }
            #expect(log.entries == [])
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .finished)
            #expect(log.entries == [1, 2, 3])
        }
    }

    @Test func `a block that another thread gives wakes the loop when its time comes`() throws {
        let thread = try RunLoopThread(name: "sleeper")
        defer { thread.stop() }
        waitUntilAsleep(thread.runLoop)
        let ran = Gate()
        let earliest = ContinuousClock.now + .milliseconds(2)
        thread.runLoop.perform(after: .milliseconds(2)) {
            #expect(ContinuousClock.now >= earliest)
            #expect(thread.runLoop.isCurrent)
            ran.open()
        }
        #expect(ran.wait())
    }

    @Test func `a block waits for one of its modes, and runs once`() throws {
        try onLoopThread { [custom] loop in
            let log = Log<String>()
            loop.perform(after: .zero, inModes: [custom, .init("other")]) { log.add("custom") }
            loop.perform(after: .zero) { log.add("common") }
            loop.run(until: .now)
            #expect(log.entries == ["common"])
            loop.run(in: custom, until: .now)
            loop.run(in: .init("other"), until: .now)
            #expect(log.entries == ["common", "custom"])
        }
    }

    @Test func `dropping the handle does not cancel`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            do { _ = loop.perform(after: .milliseconds(1)) { log.add("ran") } }
            loop.run()
            #expect(log.entries == ["ran"])
        }
    }

    @Test func `a block cancelled in time on the loop's thread never runs and is released`() throws {
        try onLoopThread { [hour] loop in
            let log = Log<String>()
            let later = loop.perform(after: .milliseconds(1)) { [canary = Canary { log.add("gone") }] in
                canary.sing()
                log.add("ran")
            }
            #expect(later.cancel() == .cancelled)
            #expect(log.entries == ["gone"])
            loop.perform(after: .milliseconds(2)) { log.add("later one ran") }
            loop.run()
            #expect(log.entries == ["gone", "later one ran"])
            #expect(later.cancel() == .cancelled)
            // A cancelled block does not keep the mode alive.
            loop.perform(after: hour) {}.cancel()
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .finished)
        }
    }

    @Test func `a block cancelled in time by another thread never runs and is released`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let later = loop.perform(after: .milliseconds(1)) { [canary = Canary { log.add("gone") }] in
                canary.sing()
                log.add("ran")
            }
            try BareThread {
                #expect(later.cancel() == .cancelled)
                log.add("cancelled")
            }.join()
            #expect(log.entries == ["gone", "cancelled"])
            loop.perform(after: .milliseconds(2)) { log.add("later one ran") }
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .finished)
            #expect(log.entries == ["gone", "cancelled", "later one ran"])
        }
    }

    @Test func `nothing of a cancelled block keeps its mode alive`() throws {
        try onLoopThread { [custom, hour] loop in
            let later = loop.perform(after: hour, inModes: [custom]) {}
            try BareThread { later.cancel() }.join()
            #expect(loop.run(in: custom, until: .hang) == .finished)
        }
    }

    @Test func `a block cancelled before the loop has taken it in never runs`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            try BareThread {
                let later = loop.perform(after: .zero) { log.add("ran") }
                #expect(later.cancel() == .cancelled)
            }.join()
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test func `cancelling too late reports that the block is running, then that it has run`() throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        let (started, release) = (Gate(), Gate())
        let later = thread.runLoop.perform(after: .zero) {
            started.open()
            #expect(release.wait())
        }
        #expect(started.wait())
        #expect(later.cancel() == .running)
        release.open()
        try thread.runLoop.performAndWait {}
        #expect(later.cancel() == .ran)
    }

    @Test func `a block that cancels itself is running`() throws {
        try onLoopThread { loop in
            let handle = Log<DelayedPerform>()
            let answers = Log<DelayedPerform.Cancellation>()
            handle.add(loop.perform(after: .zero) { answers.add(handle.entries[0].cancel()) })
            loop.run()
            #expect(answers.entries == [.running])
            #expect(handle.entries[0].cancel() == .ran)
        }
    }

    @Test func `a block that has run is released, though its handle is held`() throws {
        try onLoopThread { loop in
            let gone = Log<String>()
            let later = loop.perform(after: .zero) { [canary = Canary { gone.add("gone") }] in canary.sing() }
            loop.run()
            #expect(gone.entries == ["gone"])
            #expect(later.cancel() == .ran)
        }
    }

    @Test func `in any race, a block either is cancelled or runs`() throws {
        let thread = try RunLoopThread(name: "target")
        defer { thread.stop() }
        for round in 0..<500 {
            let log = Log<String>()
            let later = thread.runLoop.perform(after: .microseconds(round % 20)) { log.add("ran") }
            for _ in 0..<(round % 50) { _ = ContinuousClock.now }
            let answer = later.cancel()
            try thread.runLoop.performAndWait {}
            // A block that was running when it could no longer be cancelled has ended, because later blocks have run.
            #expect(log.entries == (answer == .cancelled ? [] : ["ran"]))
        }
    }

    @Test func `a block that waits when its loop ends is destroyed`() throws {
        let thread = try RunLoopThread(name: "short")
        let gone = Gate()
        thread.runLoop.perform(after: hour) { [canary = Canary(gone)] in canary.sing() }
        try thread.runLoop.performAndWait {}
        thread.stop()
        #expect(thread.join(before: .now + .seconds(30)))
        #expect(gone.wait())
    }

    @Test func `a delayed block that waits when its loop ends is destroyed, and its handle reports that`()
        throws
    {
        let thread = try RunLoopThread(name: "short")
        let gone = Log<String>()
        let handles = (0..<2).map { _ in
            thread.runLoop.perform(after: hour) { [canary = Canary { gone.add("gone") }] in canary.sing() }
        }
        try thread.runLoop.performAndWait {}
        #expect(handles.allSatisfy { $0.isPending })
        #expect(handles[0].cancel() == .cancelled)
        #expect(!handles[0].isPending)
        thread.stop()
        #expect(thread.join(before: .hang))
        #expect(gone.entries == ["gone", "gone"])
        #expect(handles[0].cancel() == .cancelled)
        #expect(!handles[1].isPending)
        #expect(handles[1].cancel() == .loopEnded)
    }

    @Test
    func `a block that its loop has not taken in when it ends is destroyed, and its handle reports that`()
        throws
    {
        let gone = Log<String>()
        let handles = Log<DelayedPerform>()
        try BareThread {
            let loop = RunLoop.current
            do {
                try BareThread {
                    handles.add(
                        loop.perform(after: .zero) { [canary = Canary { gone.add("gone") }] in canary.sing() }
                    )
                }.join()
            } catch { Issue.record(error) }
        }.join()
        #expect(gone.entries == ["gone"])
        #expect(handles.entries[0].cancel() == .loopEnded)
    }

    @Test func `a block for a loop that has ended is destroyed at once, and its handle reports that`() throws
    {
        let thread = try RunLoopThread(name: "short")
        thread.stop()
        #expect(thread.join(before: .now + .seconds(30)))
        let log = Log<String>()
        let later = thread.runLoop.perform(after: .zero) { [canary = Canary { log.add("gone") }] in
            canary.sing()
            log.add("ran")
        }
        #expect(log.entries == ["gone"])
        #expect(!later.isPending)
        #expect(later.cancel() == .loopEnded)
    }

    @Test(arguments: 0..<20) func `threads that cancel at any moment agree on the outcome of the block`(
        seed: UInt64
    ) throws {
        let thread = try RunLoopThread(name: "target")
        var random = SplitMix64(seed: seed)
        for _ in 0..<25 {
            let (runs, answers, destroyed) = (Shared(), Log<DelayedPerform.Cancellation>(), Shared())
            let handles = Log<DelayedPerform>()
            let cancelsItself = Bool.random(using: &random)
            let delay = Duration.microseconds(Int.random(in: 0...60, using: &random))
            let canary = Canary { destroyed.increment() }
            let later = thread.runLoop.perform(after: delay) { [canary] in
                canary.sing()
                runs.increment()
                if cancelsItself { for handle in handles.entries { answers.add(handle.cancel()) } }
            }
            handles.add(later)
            let patience = (0..<3).map { _ in Int.random(in: 0...300, using: &random) }
            let ends = Int.random(in: 0..<4, using: &random) == 0 && seed % 2 == 0
            let cancellers = try Threads(3) { number in
                for _ in 0..<patience[number] { _ = ContinuousClock.now }
                if ends && number == 0 { thread.stop() }
                answers.add(later.cancel())
            }
            try cancellers.join()
            if ends { #expect(thread.join(before: .hang)) } else { try thread.runLoop.performAndWait {} }
            let final = later.cancel()
            let all = answers.entries
            switch final {
            case .ran:
                #expect(runs.count == 1 && all.allSatisfy { $0 == .ran || $0 == .running })
            case .cancelled:
                #expect(runs.count == 0 && all.contains(.cancelled) && all.allSatisfy { $0 == .cancelled })
            case .loopEnded:
                #expect(ends && runs.count == 0 && all.allSatisfy { $0 == .loopEnded })
            case .running: Issue.record("the block has returned")
            }
            #expect(!later.isPending)
            if ends { return }
        }
        thread.stop()
    }
}

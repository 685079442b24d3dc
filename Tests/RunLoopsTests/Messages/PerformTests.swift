import RunLoops
import TestSupport
import Testing

/// Blocks that threads perform on a loop.
@Suite struct PerformTests {
    private let custom = RunLoop.Mode("custom")

    @Test func `a block wakes a loop that sleeps until a timer far away`() throws {
        let thread = try RunLoopThread(name: "sleeper")
        defer { thread.stop() }
        let performed = Gate()
        thread.runLoop.perform {
            Timer.scheduledTimer(withTimeInterval: .seconds(3_600), repeats: false) { _ in }
        }
        waitUntilAsleep(thread.runLoop)
        thread.runLoop.perform { performed.open() }
        #expect(performed.wait())
        #expect(thread.runLoop.statistics.timerFires == 0)
    }

    // Guarantees: The order of blocks of one thread, of messages of one sender to one port, and of timers.
    @Test func `blocks of one thread run in the order in which they were given, each once`() throws {
        let thread = try RunLoopThread(name: "target")
        let log = Log<(poster: Int, number: Int)>()
        var posters: [BareThread] = []
        for poster in 0..<4 {
            posters.append(
                try BareThread {
                    for number in 0..<1_000 { thread.runLoop.perform { log.add((poster, number)) } }
                })
        }
        for poster in posters { poster.join() }
        try thread.runLoop.performAndWait {}
        thread.stop()
        #expect(thread.join(before: .now + .seconds(30)))
        for poster in 0..<4 {
            #expect(log.entries.filter { $0.poster == poster }.map(\.number) == Array(0..<1_000))
        }
    }

    @Test func `a block of the loop's own thread runs after earlier blocks of other threads`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            let other = try BareThread {
                loop.perform { log.add(1) }
                loop.perform(inModes: [.default]) { log.add(2) }
            }
            other.join()
            loop.perform { log.add(3) }
            loop.perform(inModes: [.default]) { log.add(4) }
            loop.run()
            #expect(log.entries == [1, 2, 3, 4])
        }
    }

    @Test func `a block for several modes runs once, whichever of them runs first`() throws {
        try onLoopThread { [custom] loop in
            let log = Log<String>()
            loop.perform(inModes: [custom, .default, .common]) { log.add("first") }
            loop.run(until: .now)
            loop.run(in: custom, until: .now)
            loop.perform(inModes: [.default, custom]) { log.add("second") }
            loop.run(in: custom, until: .now)
            loop.run(until: .now)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test func `a block waits while its modes do not run`() throws {
        try onLoopThread { [custom] loop in
            let log = Log<RunLoop.Mode>()
            loop.perform(inModes: [custom]) { log.add(custom) }
            // The block keeps only its own mode alive.
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .finished)
            loop.perform { log.add(.default) }
            loop.run(until: .now)
            #expect(log.entries == [.default])
            #expect(loop.run(in: custom, until: .now + .seconds(30)) == .finished)
            #expect(log.entries == [.default, custom])
        }
    }

    @Test func `a block for the common modes runs in a mode that has become common since`() throws {
        try onLoopThread { [custom] loop in
            let log = Log<String>()
            loop.perform { log.add("common") }
            loop.run(in: custom, until: .now)
            #expect(log.entries == [])
            loop.addCommonMode(custom)
            loop.run(in: custom, until: .now)
            #expect(log.entries == ["common"])
        }
    }

    @Test func `a block that a block gives runs later, not inside it`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            loop.perform {
                log.add("outer begins")
                loop.perform { log.add("inner") }
                log.add("outer ends")
            }
            loop.perform { log.add("next") }
            loop.run()
            #expect(log.entries == ["outer begins", "outer ends", "next", "inner"])
        }
    }

    @Test func `a run inside a block runs the blocks behind it`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            loop.perform {
                log.add("outer begins")
                loop.run(until: .now)
                log.add("outer ends")
            }
            loop.perform { log.add("next") }
            loop.run()
            #expect(log.entries == ["outer begins", "next", "outer ends"])
        }
    }

    @Test func `a run inside a block, in another mode, runs that mode's blocks in order`() throws {
        try onLoopThread { [custom] loop in
            let log = Log<Int>()
            loop.perform(inModes: [custom]) { log.add(1) }
            loop.perform {
                // The loop has set the first block aside, and has not yet examined the last one.
                #expect(loop.run(in: custom, until: .hang) == .finished)
                log.add(3)
            }
            loop.perform(inModes: [custom]) { log.add(2) }
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(log.entries == [1, 2, 3])
        }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `with any order of modes, blocks of one mode keep their order, and none runs in another mode`(
        seed: UInt64
    ) throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: seed)
            let modes = [RunLoop.Mode.default, .init("one"), .init("two")]
            let log = Log<Int>()
            var waiting: [(id: Int, modes: Set<RunLoop.Mode>)] = []
            var expected: [Int] = []
            for id in 0..<100 {
                let chosen = modes.filter { _ in Bool.random(using: &random) } + [modes[id % 3]]
                loop.perform(inModes: chosen) { log.add(id) }
                waiting.append((id, Set(chosen)))
                if Int.random(in: 0..<4, using: &random) > 0 { continue }
                let mode = modes[Int.random(in: 0..<3, using: &random)]
                // Runs all blocks for the mode, in any number of passes.
                loop.run(in: mode)
                expected += waiting.filter { $0.modes.contains(mode) }.map(\.id)
                waiting.removeAll { $0.modes.contains(mode) }
            }
            #expect(log.entries == expected)
        }
    }

    @Test func `blocks that are given together run in order, and no other thread's come between`() throws {
        let thread = try RunLoopThread(name: "target")
        let log = Log<(poster: Int, number: Int)>()
        var posters: [BareThread] = []
        for poster in 0..<2 {
            posters.append(
                try BareThread {
                    for batch in 0..<100 {
                        let blocks = (0..<10).map { number -> @Sendable () -> Void in
                            { log.add((poster, batch * 10 + number)) }
                        }
                        #expect(thread.runLoop.perform(contentsOf: blocks))
                    }
                })
        }
        for poster in posters { poster.join() }
        try thread.runLoop.performAndWait {}
        thread.stop()
        let entries = log.entries
        for poster in 0..<2 {
            #expect(entries.filter { $0.poster == poster }.map(\.number) == Array(0..<1_000))
        }
        for start in stride(from: 0, to: entries.count, by: 10) {
            #expect(Set(entries[start..<start + 10].map(\.poster)).count == 1)
        }
    }

    @Test func `an empty list of blocks is accepted`() throws {
        try onLoopThread { loop in
            #expect(loop.perform(contentsOf: []))
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .finished)
        }
    }

    @Test func `a loop whose thread has ended refuses blocks, and they are destroyed at once`() throws {
        let thread = try RunLoopThread(name: "short")
        thread.stop()
        #expect(thread.join(before: .now + .seconds(30)))
        let log = Log<String>()
        let one = thread.runLoop.perform { [canary = Canary { log.add("one") }] in canary.sing() }
        #expect(!one)
        let modes = thread.runLoop.perform(inModes: [custom]) { [canary = Canary { log.add("modes") }] in
            canary.sing()
        }
        #expect(!modes)
        let several = thread.runLoop.perform(
            contentsOf: (0..<2).map { _ -> @Sendable () -> Void in
                { [canary = Canary { log.add("several") }] in canary.sing() }
            })
        #expect(!several)
        #expect(log.entries == ["one", "modes", "several", "several"])
    }
}

import RunLoops
import TestSupport
import Testing

/// The steps of one pass, in order.
@Suite struct PassOrderTests {
    /// Adds one ready input of each kind to the loop, and an observer of all activities.
    private func addAll(to loop: RunLoop, _ log: Log<String>, _ pipe: Wire) throws {
        loop.add(RunLoop.Observer(activities: .all) { log.add(name($1)) }, forMode: .default)
        let source = DescriptorSource(pipe.near, interest: .read) { _, _ in
            pipe.drain()
            log.add("descriptor")
        }
        try loop.add(source, forMode: .default)
        pipe.send()
        let port = Port<Int>()
        loop.add(port, forMode: .default) { _ in
            log.add("port")
            loop.perform { log.add("block of the port") }
        }
        try port.send(1)
        let timer = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in log.add("timer") }
        loop.add(timer, forMode: .default)
    }

    private func name(_ activity: RunLoop.Activity) -> String {
        switch activity {
        case .entry: "entry"
        case .beforeTimers: "before timers"
        case .beforeSources: "before sources"
        case .beforeWaiting: "before waiting"
        case .afterWaiting: "after waiting"
        case .exit: "exit"
        default: "\(activity)"
        }
    }

    // Guarantees: The order of the steps.
    @Test func `a pass that has work takes its steps in order, and does not sleep`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            try addAll(to: loop, log, pipe)
            let source = ManualSource { log.add("manual source") }
            loop.add(source, forMode: .default)
            source.signal()
            loop.perform { log.add("block") }
            #expect(loop.run(in: .default, returnAfterSourceHandled: true) == .handledSource)
            #expect(
                log.entries == [
                    "entry", "before timers", "before sources", "block", "manual source",
                    "timer", "descriptor", "port", "block of the port", "exit",
                ])
        }
    }

    @Test func `blocks that a manual source gave are performed before timers`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let source = ManualSource { loop.perform { log.add("block") } }
            loop.add(source, forMode: .default)
            source.signal()
            loop.add(
                Timer(fireAt: .now, interval: .zero, repeats: false) { _ in log.add("timer") },
                forMode: .default)
            #expect(loop.run(in: .default, returnAfterSourceHandled: true) == .handledSource)
            #expect(log.entries == ["block", "timer"])
        }
    }

    // Guarantees: The order of the steps.
    @Test func `a pass that sleeps says so, and serves what woke it`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            loop.add(RunLoop.Observer(activities: .all) { log.add(name($1)) }, forMode: .default)
            let source = DescriptorSource(pipe.near, interest: .read) { _, _ in log.add("descriptor") }
            try loop.add(source, forMode: .default)
            // The loop does not check the kernel before it is about to sleep, so this pass is one that sleeps.
            pipe.send()
            #expect(loop.run(in: .default, returnAfterSourceHandled: true) == .handledSource)
            #expect(
                log.entries == [
                    "entry", "before timers", "before sources", "before waiting", "after waiting",
                    "descriptor", "exit",
                ])
        }
    }

    @Test func `a busy pass looks at the kernel once, also if a descriptor stays ready`() throws {
        try onLoopThread { loop in
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            pipe.send()
            let descriptor = DescriptorSource(pipe.near, interest: .read) { _, _ in }
            try loop.add(descriptor, forMode: .default)
            let source = ManualSource {}
            loop.add(source, forMode: .default)
            source.signal()
            #expect(loop.run(in: .default, returnAfterSourceHandled: true) == .handledSource)
        }
    }

    @Test func `what comes while observers are told of the sleep is served in the same pass`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            let late = RunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                #expect(throws: Never.self) { try addAll(to: loop, log, pipe) }
                loop.perform { log.add("block") }
            }
            loop.add(late, forMode: .default)
            loop.add(Port<Int>(), forMode: .default) { _ in }
            #expect(loop.run(in: .default, returnAfterSourceHandled: true) == .handledSource)
            #expect(
                log.entries == [
                    "after waiting", "timer", "descriptor", "port", "block", "block of the port", "exit",
                ])
        }
    }

    @Test func `a block that a block gives waits for the next step, in order`() throws {
        // On a slow machine the step can end early, when its time is over.
        let isSeen = try isSeenOnce {
            try onLoopThread { loop in
                let log = Log<String>()
                loop.add(RunLoop.Observer(activities: .all) { log.add(name($1)) }, forMode: .default)
                loop.perform {
                    log.add("first")
                    loop.perform { log.add("third") }
                }
                loop.perform { log.add("second") }
                #expect(loop.run(in: .default) == .finished)
                return log.entries == [
                    "entry", "before timers", "before sources", "first", "second", "third", "exit",
                ]
            }
        }
        #expect(isSeen)
    }

    @Test func `all sources and ports that were ready are served in one pass`() throws {
        // On a slow machine the step can end early, when its time is over.
        let isSeen = try isSeenOnce {
            try onLoopThread { loop in
                let log = Log<Int>()
                for number in 0..<3 {
                    let source = ManualSource { log.add(number) }
                    loop.add(source, forMode: .default)
                    source.signal()
                }
                for number in 3..<6 {
                    let port = Port<Int>()
                    loop.add(port, forMode: .default) { log.add($0) }
                    try port.send(number)
                }
                loop.run(in: .default, returnAfterSourceHandled: true)
                return log.entries == Array(0..<6) && loop.statistics.passes == 1
            }
        }
        #expect(isSeen)
    }

    @Test func `a manual source that signals itself is called once in each pass`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            let again = Port<Void>()
            let source = ManualSource {
                log.add(loop.statistics.passes)
                if log.entries.count < 4 { try? again.send() }
            }
            loop.add(again, forMode: .default) { source.signal() }
            loop.add(source, forMode: .default)
            source.signal()
            while log.entries.count < 4 { loop.run(mode: .default, before: .distantFuture) }
            #expect(log.entries == [1, 2, 3, 4])
        }
    }
}

import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Sources that are signalled by code.
@Suite struct ManualSourceTests {
    @Test func `signals merge into one call, on the loop's thread`() throws {
        try onLoopThread { loop in
            let calls = Shared()
            let source = ManualSource {
                #expect(loop.isCurrent)
                calls.increment()
            }
            loop.add(source, forMode: .default)
            try Threads(4) { _ in for _ in 0..<100 { source.signal() } }.join()
            loop.pass()
            loop.pass()
            #expect(calls.count == 1)
            source.signal()
            loop.pass()
            #expect(calls.count == 2)
        }
    }

    @Test func `a signal wakes a sleeping loop`() throws {
        let called = Gate()
        let source = ManualSource { called.open() }
        let thread = try RunLoopThread(name: "receiver")
        try thread.runLoop.performAndWait { RunLoop.current.add(source, forMode: .default) }
        waitUntilAsleep(thread.runLoop)
        source.signal()
        #expect(called.wait())
        thread.stop()
        thread.join()
    }

    @Test func `a signal is kept before the source is added, while it is removed, and for its mode`() throws {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            loop.add(Port<Int>(), forMode: other) { _ in }
            let calls = Shared()
            let source = ManualSource { calls.increment() }
            source.signal()
            loop.add(source, forMode: .default)
            loop.pass(in: other)
            #expect(calls.count == 0)
            loop.pass()
            #expect(calls.count == 1)

            loop.remove(source, forMode: .default)
            source.signal()
            loop.add(source, forMode: .default)
            loop.pass()
            #expect(calls.count == 2)

            // The source is removed after the loop has received its signal.
            source.signal()
            loop.pass(in: other)
            loop.remove(source, forMode: .default)
            loop.add(source, forMode: .default)
            loop.pass()
            loop.pass()
            #expect(calls.count == 3)
        }
    }

    @Test func `a signal during the handler calls it once more, in the next pass`() throws {
        try onLoopThread { loop in
            let calls = Shared()
            let known = Log<ManualSource>()
            let source = ManualSource {
                if calls.increment() == 0 { for _ in 0..<3 { known.entries[0].signal() } }
            }
            known.add(source)
            loop.add(source, forMode: .default)
            source.signal()
            loop.pass()
            #expect(calls.count == 1)
            loop.pass()
            loop.pass()
            #expect(calls.count == 2)
        }
    }

    @Test func `a run inside the handler does not call it again, and the outer run does`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let known = Log<ManualSource>()
            let source = ManualSource {
                log.add("begin")
                if log.entries.count == 1 {
                    known.entries[0].signal()
                    loop.pass()
                    loop.pass()
                }
                log.add("end")
            }
            known.add(source)
            loop.add(source, forMode: .default)
            source.signal()
            loop.pass()
            #expect(log.entries == ["begin", "end"])
            loop.pass()
            loop.pass()
            #expect(log.entries == ["begin", "end", "begin", "end"])
        }
    }

    @Test
    func `several sources are called in the order in which they were signalled, before timers and ports`()
        throws
    {
        let isSeen = try isSeenOnce {
            let log = Log<String>()
            try onLoopThread { loop in try Self.serveAll(loop, log) }
            return log.entries == ["c", "a", "b", "timer", "port"]
        }
        #expect(isSeen)
    }

    /// Adds three sources, a port and a timer to a loop, all of them due, and makes one pass.
    private static func serveAll(_ loop: RunLoop, _ log: Log<String>) throws {
        let sources = ["a", "b", "c"].map { name in ManualSource { log.add(name) } }
        for source in sources { loop.add(source, forMode: .default) }
        let port = Port<Void>()
        loop.add(port, forMode: .default) { log.add("port") }
        let timer = Timer(timeInterval: .zero, repeats: false) { _ in log.add("timer") }
        loop.add(timer, forMode: .default)
        try port.send()
        for index in [2, 0, 1] { sources[index].signal() }
        loop.pass()
    }

    @Test func `a source keeps its mode alive, and serving it is handling a source`() throws {
        try onLoopThread { loop in
            let source = ManualSource {}
            loop.add(source, forMode: .default)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            source.signal()
            #expect(loop.run(in: .default, returnAfterSourceHandled: true) == .handledSource)
            loop.remove(source, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `serving the first of several sources is handling a source, though the last has nothing`()
        throws
    {
        try onLoopThread { loop in
            let calls = Shared()
            let sources = (0..<3).map { _ in ManualSource { calls.increment() } }
            for source in sources { loop.add(source, forMode: .default) }
            for source in sources {
                source.signal()
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            }
            #expect(calls.count == 3)
        }
    }

    @Test func `adding a source twice is adding it once`() throws {
        try onLoopThread { loop in
            let calls = Shared()
            let source = ManualSource { calls.increment() }
            loop.add(source, forMode: .default)
            loop.add(source, forMode: .default)
            source.signal()
            loop.pass()
            #expect(calls.count == 1)
            loop.remove(source, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a source in the common modes is served in those that become common later`() throws {
        try onLoopThread { loop in
            let tracking = RunLoop.Mode("tracking")
            let calls = Shared()
            let source = ManualSource { calls.increment() }
            loop.add(source, forMode: .common)
            loop.addCommonMode(tracking)
            source.signal()
            loop.pass(in: tracking)
            #expect(calls.count == 1)
        }
    }

    @Test func `an invalid source is out of its loop for good, and lets go of its handler`() throws {
        try onLoopThread { loop in
            let alive = Shared()
            func makeSource() -> ManualSource {
                let captured = Counted(alive)
                return ManualSource {
                    _ = captured
                    Issue.record("it is invalid")
                }
            }
            let source = makeSource()
            loop.add(source, forMode: .default)
            loop.add(source, forMode: RunLoop.Mode("other"))
            source.signal()
            #expect(source.isValid)
            source.invalidate()
            #expect(!source.isValid)
            #expect(alive.count == 0)
            #expect(loop.run(in: .default) == .finished)
            source.invalidate()
            source.signal()
            loop.add(source, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a source may be removed or invalidated in its own handler`() throws {
        try onLoopThread { loop in
            let calls = Shared()
            let known = Log<ManualSource>()
            let source = ManualSource {
                let source = known.entries[0]
                source.signal()
                if calls.increment() == 0 {
                    loop.remove(source, forMode: .default)
                } else {
                    source.invalidate()
                }
            }
            known.add(source)
            loop.add(source, forMode: .default)
            source.signal()
            #expect(loop.run(in: .default) == .finished)
            #expect(calls.count == 1)
            // The signal from inside the handler is still pending.
            loop.add(source, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
            #expect(calls.count == 2)
        }
    }

    @Test func `a signal that a run inside the handler has heard of stays one when the source is removed`()
        throws
    {
        try onLoopThread { loop in
            let calls = Shared()
            let known = Log<ManualSource>()
            let source = ManualSource {
                if calls.increment() > 0 { return }
                known.entries[0].signal()
                loop.pass()
                loop.remove(known.entries[0], forMode: .default)
            }
            known.add(source)
            loop.add(source, forMode: .default)
            source.signal()
            #expect(loop.run(in: .default) == .finished)
            #expect(calls.count == 1)
            loop.add(source, forMode: .default)
            loop.pass()
            loop.pass()
            #expect(calls.count == 2)
        }
    }

    @Test func `a loop holds its sources, and lets them go when it ends`() throws {
        let alive = Shared()
        let thread = try RunLoopThread(name: "receiver")
        try thread.runLoop.performAndWait {
            let captured = Counted(alive)
            RunLoop.current.add(ManualSource { _ = captured }, forMode: .default)
        }
        #expect(alive.count == 1)
        thread.stop()
        thread.join()
        #expect(alive.count == 0)
    }

    @Test func `a source whose loop has ended may be added to another`() throws {
        let calls = Shared()
        let source = ManualSource { calls.increment() }
        let thread = try RunLoopThread(name: "first")
        try thread.runLoop.performAndWait { RunLoop.current.add(source, forMode: RunLoop.Mode("other")) }
        thread.stop()
        thread.join()
        source.signal()
        try onLoopThread { loop in
            loop.add(source, forMode: .default)
            loop.pass()
        }
        #expect(calls.count == 1)
    }

    @Test func `a source in one loop is not added to another`() async throws {
        let adding = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let source = ManualSource {}
            let thread = try RunLoopThread(name: "first")
            try await thread.runLoop.performAndWait { RunLoop.current.add(source, forMode: .default) }
            try onLoopThread { $0.add(source, forMode: .default) }
        }
        #expect(try #require(adding).message.contains("is in another loop; remove it there first"))
    }
}

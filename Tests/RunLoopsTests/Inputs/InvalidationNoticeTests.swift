import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Each observer of a port's end is called once, on the thread of its own loop.
@Suite struct InvalidationNoticeTests {
    @Test func `those who asked and have ended leave nothing behind`() async throws {
        try await #require(processExitsWith: .success) {
            let port = Port<Int>()
            let bound = try boundOfDescriptors()
            for _ in 0..<300 {
                try BareThread { port.addInvalidationHandler { Issue.record("it has ended") } }.join()
            }
            #expect(openDescriptors(from: bound) < 10)
            port.invalidate()
        }
    }

    // Guarantees: The end of a port is reported once to each handler that was added for it, on the thread of the handler's own
    // loop.
    @Test func `each who asked is told once, on its own loop's thread`() throws {
        let port = Port<Int>()
        let right = port.makeSendRight()
        let receiver = try RunLoopThread(name: "receiver")
        let log = Log<String>()
        let other = try RunLoopThread(name: "other")
        for thread in [receiver, other] {
            try thread.runLoop.performAndWait {
                let loop = RunLoop.current
                let name = loop.name
                if name == "receiver" { loop.add(port, forMode: .common) { _ in } }
                port.addInvalidationHandler {
                    #expect(loop.isCurrent)
                    log.add("\(name) port")
                }
                right.addInvalidationHandler {
                    #expect(loop.isCurrent)
                    log.add("\(name) right")
                }
            }
        }
        #expect(log.entries == [])
        port.invalidate()
        port.invalidate()
        for thread in [receiver, other] {
            try thread.runLoop.performAndWait {}
            thread.stop()
            thread.join()
        }
        for name in ["receiver", "other"] {
            #expect(log.entries.filter { $0.hasPrefix(name) } == ["\(name) port", "\(name) right"])
        }
    }

    @Test func `it is not told while the port is being ended, nor in a mode that is not common`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let other = RunLoop.Mode("other")
            loop.add(Port<Int>(), forMode: other) { _ in }
            var calls = 0
            port.addInvalidationHandler { calls += 1 }
            port.invalidate()
            #expect(calls == 0)
            loop.settle(in: other)
            #expect(calls == 0)
            loop.settle()
            #expect(calls == 1)
        }
    }

    @Test func `whoever asks late is told soon`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            port.invalidate()
            var calls = 0
            port.addInvalidationHandler { calls += 1 }
            #expect(calls == 0)
            loop.settle()
            #expect(calls == 1)
        }
    }

    @Test func `the last reference tells, too`() throws {
        try onLoopThread { loop in
            var port: Port<Int>? = Port()
            let right = port?.makeSendRight()
            var calls = 0
            right?.addInvalidationHandler { calls += 1 }
            port = nil
            loop.settle()
            #expect(calls == 1)
        }
    }

    // Guarantees: A handler that is confined to a thread is destroyed on that thread, whether it was called or not.
    @Test func `a loop that ends first destroys the handler on its thread, uncalled`() throws {
        let port = Port<Int>()
        let ended = Gate()
        let thread = try RunLoopThread(name: "asker")
        let asker = thread.runLoop
        try asker.performAndWait {
            let canary = Canary {
                #expect(asker.isCurrent)
                ended.open()
            }
            port.addInvalidationHandler {
                canary.sing()
                Issue.record("the loop has ended")
            }
        }
        thread.stop()
        thread.join()
        #expect(ended.wait(seconds: 0))
        port.invalidate()
    }

    @Test func `a loop that ends lets go of its port, and is not told`() throws {
        let alive = Shared()
        let thread = try RunLoopThread(name: "receiver")
        try thread.runLoop.performAndWait {
            let captured = Counted(alive)
            let port = Port<Int>()
            RunLoop.current.add(port, forMode: .common) { _ in }
            port.addInvalidationHandler {
                _ = captured
                Issue.record("the loop has ended")
            }
        }
        thread.stop()
        thread.join()
        #expect(alive.count == 0)
    }

    @Test func `the handler goes when it has been called`() throws {
        try onLoopThread { loop in
            let alive = Shared()
            let port = Port<Int>()
            let captured = Counted(alive)
            port.addInvalidationHandler { [captured] in _ = captured }
            _ = consume captured
            #expect(alive.count == 1)
            port.invalidate()
            loop.settle()
            loop.pass()
            #expect(alive.count == 0)
        }
    }
}

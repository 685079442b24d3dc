import Foundation
import FoundationRunLoops
import TestSupport
import Testing

import class RunLoops.RunLoopThread

/// A port keeps a mode alive, and a subclass decides the inputs that the port adds to a loop.
@Suite struct KeepAlivePortTests {
    /// A port whose input is a timer.
    private final class TickPort: Port {
        private let timer: Timer
        init(_ handler: @escaping (Timer) -> Void) {
            timer = Timer(timeInterval: 0.001, repeats: true, block: handler)
        }
        override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
            runLoop.add(timer, forMode: mode)
        }
        override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
            runLoop.remove(timer, forMode: mode)
        }
    }

    @Test func `a port keeps its modes alive until it is removed or invalid`() throws {
        try onLoopThread { loop in
            let (port, other) = (Port(), RunLoop.Mode("other"))
            loop.add(port, forMode: .default)
            loop.add(port, forMode: other)
            #expect(loop.run(mode: .default, before: Date()))
            loop.remove(port, forMode: .default)
            #expect(!loop.run(mode: .default, before: Date()))
            #expect(loop.run(mode: other, before: Date()))
            port.invalidate()
            #expect(!port.isValid)
            #expect(!loop.run(mode: other, before: Date()))
            loop.add(port, forMode: .default)
            #expect(!loop.run(mode: .default, before: Date()))
        }
    }

    @Test func `a port that becomes invalid posts that once`() {
        let print = Printed()
        let port = Port()
        let center = NotificationCenter.default
        let token = center.addObserver(forName: Port.didBecomeInvalidNotification, object: port, queue: nil) {
            note in
            print(note.object is Port ? "invalid" : "no port")
        }
        port.invalidate()
        port.invalidate()
        center.removeObserver(token)
        #expect(print.lines == ["invalid"])
    }

    /// A port that counts the calls of its override points.
    private final class CountingPort: Port {
        private(set) var calls: [String] = []
        override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
            calls.append("schedule \(mode)")
            super.schedule(in: runLoop, forMode: mode)
        }
        override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
            calls.append("remove \(mode)")
            super.remove(from: runLoop, forMode: mode)
        }
    }

    @Test func `a port that is added to a mode twice is scheduled once, until it is removed`() throws {
        try onLoopThread { loop in
            let (port, other) = (CountingPort(), RunLoop.Mode("other"))
            loop.remove(port, forMode: other)
            for _ in 0..<2 {
                loop.add(port, forMode: other)
                loop.add(port, forMode: other)
                #expect(loop.run(mode: other, before: Date()))
                loop.remove(port, forMode: other)
                loop.remove(port, forMode: other)
                #expect(!loop.run(mode: other, before: Date()))
            }
            #expect(port.calls == ["schedule other", "remove other", "schedule other", "remove other"])
        }
    }

    @Test func `a port is added, removed and ended on any thread, and is in several loops`() throws {
        let threads = [try RunLoopThread(name: "one"), try RunLoopThread(name: "two")]
        let mode = RunLoop.Mode("kept")
        nonisolated(unsafe) let port = Port()
        func isKept(_ thread: RunLoopThread) throws -> Bool {
            try thread.runLoop.performAndWait { RunLoop.current.run(mode: mode, before: Date()) }
        }
        for thread in threads { thread.runLoop.add(unsafe port, forMode: mode) }
        for thread in threads { #expect(try isKept(thread)) }
        threads[0].runLoop.remove(unsafe port, forMode: mode)
        #expect(try !isKept(threads[0]))
        #expect(try isKept(threads[1]))
        unsafe port.invalidate()
        #expect(try !isKept(threads[1]))
        for thread in threads {
            thread.stop()
            thread.join()
        }
    }

    @Test func `a subclass adds an input of its own`() throws {
        try onLoopThread { loop in
            var ticks = 0
            let port = TickPort { timer in
                ticks += 1
                if ticks == 3 { timer.invalidate() }
            }
            loop.add(port, forMode: .default)
            loop.run(until: Date(timeIntervalSinceNow: 60))
            #expect(ticks == 3)
        }
    }
}

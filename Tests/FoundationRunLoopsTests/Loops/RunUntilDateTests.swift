import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// Loops run until dates.
@Suite struct RunUntilDateTests {
    @Test func `a run with a date does not end before it`() throws {
        try onLoopThread { loop in
            loop.add(Port(), forMode: .default)
            let date = Date(timeIntervalSinceNow: 0.02)
            loop.run(until: date)
            #expect(Date() >= date)
            let next = Date(timeIntervalSinceNow: 0.02)
            #expect(loop.run(mode: .default, before: next))
            #expect(Date() >= next)
        }
    }

    @Test func `a run of an empty mode returns false at once`() throws {
        try onLoopThread { loop in
            #expect(!loop.run(mode: .init("empty"), before: Date.distantFuture))
            loop.acceptInput(forMode: .init("empty"), before: Date.distantFuture)
        }
    }

    @Test func `a limit date is the date of the next timer`() throws {
        try onLoopThread { loop in
            #expect(loop.limitDate(forMode: .default) == nil)
            let port = Port()
            loop.add(port, forMode: .default)
            #expect(loop.limitDate(forMode: .default) == Date.distantFuture)
            let timer = Timer(timeInterval: 1000, repeats: false) { _ in }
            loop.add(timer, forMode: .default)
            let limit = try #require(loop.limitDate(forMode: .default))
            #expect(abs(limit.timeIntervalSince(timer.fireDate)) < 100)
        }
    }

    @Test func `blocks are performed under Foundation's labels`() throws {
        let print = Printed()
        try onLoopThread { loop in
            loop.perform(block: { print("block") })
            loop.perform(inModes: [.default], block: { print("modes") })
            loop.run(until: Date())
        }
        #expect(print.lines == ["block", "modes"])
    }

    @Test func `a thread of Foundation runs a loop`() {
        let print = Printed()
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in print("fired") }
            RunLoop.current.run()
            ended.signal()
        }
        ended.wait()
        #expect(print.lines == ["fired"])
    }
}

import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The deadlines of libraries.
@Suite struct LibrarySourceDeadlineTests {
    private typealias Instant = ContinuousClock.Instant

    // Guarantees: A deadline is never early.
    @Test func `a deadline that has come is one call of the service, not before its date, and is nil then`()
        throws
    {
        try onLoopThread { loop in
            let library = try PipeLibrary()
            try loop.add(library.source, forMode: .default)
            let date = Instant.now + .milliseconds(3)
            library.afterReports = { source in
                #expect(Instant.now >= date)
                #expect(source.deadlineHasPassed)
                #expect(source.deadline == nil)
            }
            library.source.deadline = date
            #expect(library.source.deadline == date)
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(!library.source.deadlineHasPassed)
            for _ in 0..<3 { loop.pass() }
            #expect(library.calls == [PipeLibrary.Call(isDue: true)])
            #expect(loop.statistics.timerFires == 0)
            library.source.invalidate()
        }
    }

    // Guarantees: A deadline of now or earlier is served in the next pass, which does not sleep.
    @Test
    func `a deadline of now is the next pass, without a sleep and without a call of the kernel to wait`()
        throws
    {
        try onLoopThread { loop in
            let library = try PipeLibrary()
            var passes: [Int] = []
            library.afterReports = { source in
                passes.append(loop.statistics.passes)
                if passes.count == 5 {
                    loop.stop()
                } else {
                    source.deadline = passes.count == 2 ? .distantPast : .now
                }
            }
            library.source.deadline = .now
            var sleeps = 0
            loop.add(
                RunLoop.Observer(activities: .beforeWaiting) { _, _ in sleeps += 1 }, forMode: .default)
            try loop.add(library.source, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(passes == Array(passes[0]..<passes[0] + 5))
            #expect(sleeps == 0)
            #expect(loop.statistics.wakeUps == 0)
            library.source.invalidate()
        }
    }

    @Test func `a deadline that is moved or taken back before its date does not come`() throws {
        try onLoopThread { loop in
            let library = try PipeLibrary()
            try loop.add(library.source, forMode: .default)
            library.source.deadline = .now
            library.source.deadline = .now + .seconds(3_600)
            loop.pass()
            library.source.deadline = .now + .milliseconds(1)
            library.source.deadline = nil
            // Without a deadline there is no timer.
            #expect(loop.core("LibrarySourceDeadlineTests", "").timers.isEmpty)
            #expect(loop.run(in: .default, until: .now + .milliseconds(5)) == .timedOut)
            #expect(library.calls == [])
            library.source.deadline = .now + .seconds(3_600)
            #expect(loop.limitDate(forMode: .default) == library.source.deadline)
            library.source.deadline = .now + .milliseconds(1)
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            library.source.invalidate()
        }
    }

    @Test func `a deadline that comes in another mode, or while the source is in no loop, is served later`()
        throws
    {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            let library = try PipeLibrary()
            try loop.add(library.source, forMode: other)
            loop.add(Port<Int>(), forMode: .default) { _ in }
            for date in [Instant.now, .now + .microseconds(100)] {
                library.source.deadline = date
                #expect(loop.run(in: .default, until: .now + .milliseconds(2)) == .timedOut)
                #expect(library.calls == [])
                loop.pass(in: other)
                #expect(library.calls == [PipeLibrary.Call(isDue: true)])
                library.calls = []
            }
            for date in [Instant.now, .now + .microseconds(100)] {
                loop.remove(library.source, forMode: other)
                library.source.deadline = date
                #expect(loop.run(in: .default, until: .now + .milliseconds(2)) == .timedOut)
                try loop.add(library.source, forMode: other)
                loop.pass(in: other)
                #expect(library.calls == [PipeLibrary.Call(isDue: true)])
                library.calls = []
            }
            library.source.invalidate()
        }
    }
}

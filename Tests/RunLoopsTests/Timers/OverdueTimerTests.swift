import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Timers that became due while the loop ran in a mode without them.
@Suite struct OverdueTimerTests {
    private let other = RunLoop.Mode("other")

    private func core(_ loop: RunLoop) -> LoopCore { loop.core("OverdueTimerTests", "") }

    /// Calls a body during a run in the default mode, while timers of the other mode are overdue.
    private func withOverdue(_ count: Int, _ body: @escaping @Sendable (RunLoop, [RunLoops.Timer]) -> Void)
        throws
    {
        try onLoopThread { loop in
            let timers = (0..<count).map { _ in
                Timer(fireAt: .now, interval: .seconds(100), repeats: true) { _ in }
            }
            for timer in timers { loop.add(timer, forMode: other) }
            var calls = 0
            let last = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in
                calls += 1
                #expect(core(loop).timers.overdue.count == count)
                body(loop, timers)
            }
            loop.add(last, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(calls == 1)
            // The timers are in line again when the mode has changed.
            #expect(core(loop).timers.overdue.isEmpty)
            #expect(core(loop).timers.count == timers.count { $0.membership.loop != nil })
        }
    }

    @Test func `what is added to a loop does not stir those that are overdue`() throws {
        try withOverdue(100) { loop, timers in
            let one = Timer(timeInterval: .seconds(100), repeats: false) { _ in }
            loop.add(one, forMode: .default)
            loop.add(ManualSource {}, forMode: other)
            #expect(core(loop).timers.count == 1)
            #expect(core(loop).timers.overdue.count == 100)
            one.invalidate()
            // Each timer can be removed from any position.
            for timer in timers[..<40] { loop.remove(timer, forMode: other) }
            for timer in timers[60...].reversed() { timer.invalidate() }
            let rest = core(loop).timers.overdue.map { ObjectIdentifier($0) }
            #expect(rest.count == 20)
            #expect(Set(rest) == Set(timers[40..<60].map { ObjectIdentifier($0) }))
        }
    }

    @Test func `one that is fired by hand is in one list only`() throws {
        try withOverdue(1) { loop, timers in
            for _ in 0..<5 {
                timers[0].fire()
                #expect(core(loop).timers.count == 1)
                #expect(core(loop).timers.overdue.isEmpty)
                loop.perform {}
                loop.pass()
                #expect(core(loop).timers.count == 0)
                #expect(core(loop).timers.overdue.count == 1)
            }
        }
    }

    @Test func `one that joins the running mode fires`() throws {
        try withOverdue(2) { loop, timers in
            loop.add(timers[0], forMode: .default)
            #expect(core(loop).timers.overdue.count == 1)
            loop.pass()
            #expect(timers[0].fireDate > .now)
            #expect(timers[1].fireDate <= .now)
            timers[0].invalidate()
        }
    }
}

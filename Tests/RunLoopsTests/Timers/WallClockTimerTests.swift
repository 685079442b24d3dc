import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Timers for dates of the wall clock, with the kernel's report that the clock was set.
///
/// A test must not set the machine's clock, so these tests shift the clock that their thread reads. The simulations of
/// RunLoopsTesting test the dates.
@Suite struct WallClockTimerTests {
    // Guarantees: A wall clock timer never fires before the wall clock has reached its date.
    @Test func `a date comes by the machine's clock, and not before`() throws {
        try onLoopThread { loop in
            var fires: [Duration] = []
            let dates = (1...3).map { RunLoop.timeSince1970 + .milliseconds(5 * $0) }
            let timer = WallClockTimer { time in
                dates.first { $0 > time }
            } handler: { _ in
                #expect(loop.isCurrent)
                fires.append(RunLoop.timeSince1970)
            }
            try loop.add(timer, forMode: .default)
            // The timer keeps the mode alive until it has no date left.
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(!fires.isEmpty && !timer.isValid)
            #expect(loop.statistics.timerFires == fires.count)
            // Under load, one fire stands for several dates.
            for fire in fires { #expect(fire >= dates[0]) }
            #expect(fires.count < 3 || zip(fires, dates).allSatisfy { $0 >= $1 })
        }
    }

    @Test func `the kernel's report that the clock was set makes the timer compute its date anew`() throws {
        try onLoopThread { loop in
            defer { Faults.shiftWallClock(by: 0) }
            var times: [Duration] = []
            var fires = 0
            let timer = WallClockTimer { time in
                times.append(time)
                return time + .seconds(1_000)
            } handler: { _ in
                fires += 1
            }
            try loop.add(timer, forMode: .default)
            let start = try #require(times.first)
            #expect(times.count == 1)
            // Back by a day: the date is a thousand seconds after the new time.
            let descriptor = try #require(timer.clock?.descriptor)
            #expect(Faults.setWallClock(shift: -86_400, reportedBy: descriptor))
            loop.settle()
            #expect(times.count >= 2 && times[1] < start - .seconds(86_000))
            let rest = try #require(timer.fireDate) - times[times.count - 1]
            #expect(rest >= .seconds(1_000) && rest < .seconds(1_000) + .microseconds(1))
            #expect(fires == 0)
            // Forward beyond the date: the timer fires once.
            #expect(Faults.setWallClock(shift: 0, reportedBy: descriptor))
            loop.settle()
            loop.pass()
            #expect(fires == 1)
            #expect(timer.fireDate.map { $0 > start + .seconds(1_000) } == true)
            timer.invalidate()
        }
    }

    // Guarantees: A wall clock timer never fires before the wall clock has reached its date.
    @Test func `a timer does not fire when the clock shows a time before its date`() throws {
        try onLoopThread { loop in
            defer { Faults.shiftWallClock(by: 0) }
            var fires = 0
            let timer = WallClockTimer(fireAt: RunLoop.timeSince1970 + .milliseconds(1)) { _ in fires += 1 }
            try loop.add(timer, forMode: .default)
            // The clock is set back, and the loop has not heard of it.
            Faults.shiftWallClock(by: -1_000)
            #expect(loop.run(in: .default, until: .now + .milliseconds(5)) == .timedOut)
            #expect(fires == 0 && timer.isValid)
            Faults.shiftWallClock(by: 0)
            #expect(Faults.setWallClock(shift: 0, reportedBy: try #require(timer.clock?.descriptor)))
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(fires == 1)
        }
    }

    @Test func `a machine without a descriptor left refuses the timer, which can be added later`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let timer = WallClockTimer(fireAt: .zero) { _ in }
                let bound = try boundOfDescriptors()
                #expect(refusal(bound, free: 0) { try loop.add(timer, forMode: .default) } == EMFILE)
                #expect(timer.isValid && timer.watch == nil)
                try loop.add(timer, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(!timer.isValid)
            }
        }
    }

    @Test func `a thousand timers leave no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                // Nine hundred descriptors are allowed.
                _ = try boundOfDescriptors()
                for _ in 0..<1_000 {
                    let timer = WallClockTimer {
                        $0 + .seconds(1)
                    } handler: { _ in
                    }
                    try loop.add(timer, forMode: .default)
                    timer.invalidate()
                }
            }
        }
    }

    @Test func `a timer is released with its loop`() throws {
        let parting = Gate()
        try onLoopThread { loop in
            let canary = Parting { parting.open() }
            let timer = WallClockTimer {
                $0 + .seconds(1_000)
            } handler: { _ in
                canary.hold()
            }
            try loop.add(timer, forMode: .default)
        }
        #expect(parting.wait())
    }
}

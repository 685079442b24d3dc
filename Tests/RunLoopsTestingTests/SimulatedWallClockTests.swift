import RunLoops
import RunLoopsTesting
import TestExpectations
import TestSupport
import Testing

/// Timers for dates of a wall clock that the test sets.
@Suite struct SimulatedWallClockTests {
    private static let hour = Duration.seconds(3_600)
    private static let midnight = Duration.seconds(1_800_000_000 / 86_400 * 86_400)

    /// The first full hour after a time.
    private static func nextHour(after time: Duration) -> Duration {
        .seconds((time.components.seconds / 3_600 + 1) * 3_600)
    }

    @Test func `the wall clock runs like the simulation's own clock, until it is set`() throws {
        try RunLoopSimulation.run { simulation in
            let (start, date) = (simulation.now, simulation.timeSince1970)
            simulation.advance(by: .seconds(5))
            #expect(simulation.timeSince1970 == date + .seconds(5))
            simulation.setWallClock(timeSince1970: .seconds(7))
            #expect(RunLoop.timeSince1970 == .seconds(7))
            simulation.advance(by: .seconds(1))
            #expect(RunLoop.timeSince1970 == .seconds(8) && simulation.now == start + .seconds(6))
        }
    }

    // Guarantees: A wall clock timer never fires before the wall clock has reached its date.
    @Test func `a timer fires at each of its dates, and at no other time`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.setWallClock(timeSince1970: Self.midnight + .seconds(10))
            var fires: [Duration] = []
            let timer = WallClockTimer {
                Self.nextHour(after: $0)
            } handler: { timer in
                #expect(timer.fireDate == nil && timer.isValid)
                fires.append(RunLoop.timeSince1970)
            }
            #expect(timer.fireDate == nil)
            try RunLoop.current.add(timer, forMode: .default)
            #expect(timer.fireDate == Self.midnight + Self.hour)
            simulation.advance(by: Self.hour * 3)
            #expect(fires == (1...3).map { Self.midnight + Self.hour * $0 })
            #expect(timer.fireDate == Self.midnight + Self.hour * 4)
            timer.invalidate()
            simulation.advance(by: Self.hour * 3)
            #expect(fires.count == 3 && timer.fireDate == nil)
        }
    }

    // Guarantees: A clock that is set back by less than an hour repeats no date of a wall clock timer.
    @Test func `a clock that is set back by hours has its dates again, by less repeats none`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.setWallClock(timeSince1970: Self.midnight + .seconds(1))
            var fires: [Duration] = []
            let timer = WallClockTimer {
                Self.nextHour(after: $0)
            } handler: { _ in
                fires.append(RunLoop.timeSince1970 - Self.midnight)
            }
            try RunLoop.current.add(timer, forMode: .default)
            simulation.advance(by: Self.hour)
            #expect(fires == [Self.hour])
            simulation.setWallClock(timeSince1970: Self.midnight + .seconds(3_598))
            #expect(timer.fireDate == Self.midnight + Self.hour * 2)
            simulation.advance(by: .seconds(10))
            #expect(fires == [Self.hour])
            simulation.setWallClock(timeSince1970: Self.midnight - Self.hour - .seconds(1))
            #expect(timer.fireDate == Self.midnight - Self.hour)
            simulation.advance(by: .seconds(1))
            #expect(fires == [Self.hour, Self.hour * -1])
        }
    }

    // Guarantees: Dates that pass while the timer cannot fire are one fire.
    @Test func `dates that the clock jumps over are one fire`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.setWallClock(timeSince1970: Self.midnight + .seconds(1))
            var fires = 0
            let timer = WallClockTimer {
                Self.nextHour(after: $0)
            } handler: { _ in
                fires += 1
            }
            try RunLoop.current.add(timer, forMode: .default)
            simulation.setWallClock(timeSince1970: Self.midnight + Self.hour * 30 + .seconds(1))
            #expect(fires == 1)
            #expect(timer.fireDate == Self.midnight + Self.hour * 31)
            // The process was halted.
            simulation.jump(by: Self.hour * 5)
            #expect(fires == 2)
            #expect(timer.fireDate == Self.midnight + Self.hour * 36)
        }
    }

    @Test func `a timer with one date keeps it when the clock is set`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.setWallClock(timeSince1970: Self.midnight)
            var fires: [Duration] = []
            let timer = WallClockTimer(fireAt: Self.midnight + Self.hour) { _ in
                fires.append(RunLoop.timeSince1970)
            }
            try RunLoop.current.add(timer, forMode: .default)
            simulation.setWallClock(timeSince1970: Self.midnight - Self.hour * 10)
            simulation.advance(by: Self.hour * 10)
            #expect(fires.isEmpty && timer.isValid)
            simulation.advance(by: Self.hour)
            #expect(fires == [Self.midnight + Self.hour] && !timer.isValid)
            let late = WallClockTimer(fireAt: .zero) { _ in fires.append(.zero) }
            try RunLoop.current.add(late, forMode: .default)
            simulation.settle()
            #expect(fires.last == .zero && !late.isValid)
        }
    }

    @Test func `a date that a floating-point number has made early is not fired twice`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.setWallClock(timeSince1970: Self.midnight + .seconds(1))
            var fires = 0
            let timer = WallClockTimer {
                Self.nextHour(after: $0) - .nanoseconds(200)
            } handler: { _ in
                fires += 1
            }
            try RunLoop.current.add(timer, forMode: .default)
            simulation.advance(by: Self.hour * 3)
            #expect(fires == 3)
            #expect(timer.fireDate == Self.midnight + Self.hour * 4)
        }
    }

    @Test func `a timer whose closure has no more dates ends`() throws {
        try RunLoopSimulation.run { simulation in
            var dates = [simulation.timeSince1970 + .seconds(1), simulation.timeSince1970 + .seconds(2)]
            var fires = 0
            let timer = WallClockTimer {
                _ in
                dates.isEmpty ? nil : dates.removeFirst()
            } handler: { _ in
                fires += 1
            }
            try RunLoop.current.add(timer, forMode: .default)
            simulation.advance(by: .seconds(10))
            #expect(fires == 2 && !timer.isValid)
            let never = WallClockTimer { _ in
                nil
            } handler: { _ in
                fires += 1
            }
            try RunLoop.current.add(never, forMode: .default)
            #expect(!never.isValid)
            #expect(RunLoop.current.run(in: .default) == .finished)
        }
    }

    // Guarantees: Dates that pass while the timer cannot fire are one fire.
    @Test func `a timer fires only in its modes, and follows the clock of the time in between`() throws {
        try RunLoopSimulation.run { simulation in
            let other = RunLoop.Mode("other")
            simulation.setWallClock(timeSince1970: Self.midnight + .seconds(1))
            var fires = 0
            let timer = WallClockTimer {
                Self.nextHour(after: $0)
            } handler: { _ in
                fires += 1
            }
            try RunLoop.current.add(timer, forMode: other)
            simulation.advance(by: Self.hour * 2)
            #expect(fires == 0)
            simulation.settle(in: other)
            #expect(fires == 1)
            simulation.setWallClock(timeSince1970: Self.midnight + Self.hour * 9 + .seconds(1))
            #expect(fires == 1)
            simulation.settle(in: other)
            #expect(fires == 2 && timer.fireDate == Self.midnight + Self.hour * 10)
            RunLoop.current.remove(timer, forMode: other)
            simulation.advance(by: Self.hour * 2, in: other)
            #expect(fires == 2 && timer.isValid)
            try RunLoop.current.add(timer, forMode: other)
            simulation.settle(in: other)
            #expect(fires == 3)
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `timers of other threads follow the clock, too`(seed: UInt64) throws {
        try RunLoopSimulation.run(seed: seed) { simulation in
            simulation.setWallClock(timeSince1970: Self.midnight + .seconds(1))
            let fires = Log<Duration>()
            let threads = try (0..<3).map { try RunLoopThread(name: "jobs \($0)") }
            for thread in threads {
                try thread.runLoop.performAndWait {
                    let timer = WallClockTimer {
                        Self.nextHour(after: $0)
                    } handler: { _ in
                        fires.add(RunLoop.timeSince1970 - Self.midnight)
                    }
                    try RunLoop.current.add(timer, forMode: .default)
                }
            }
            simulation.setWallClock(timeSince1970: Self.midnight - Self.hour * 5 - .seconds(1))
            simulation.advance(by: .seconds(1))
            #expect(fires.entries == Array(repeating: Self.hour * -5, count: 3))
        }
    }

    @Test func `a date that is not later ends the program`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopSimulation.run { _ in
                let timer = WallClockTimer {
                    $0 - .seconds(1)
                } handler: { _ in
                }
                try RunLoop.current.add(timer, forMode: .default)
            }
        }
        #expect(result.says("return a later date, or nil to end the timer"))
    }
}

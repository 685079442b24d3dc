import RunLoops
import TestSupport
import Testing

/// Moving, stretching and anticipating the dates of timers.
@Suite struct TimerDateTests {
    private typealias Instant = ContinuousClock.Instant

    @Test func `a new date moves the grid`() throws {
        try onLoopThread { loop in
            var dates: [Instant] = []
            let timer = Timer(timeInterval: .milliseconds(3), repeats: true) { timer in
                dates.append(timer.fireDate)
                if dates.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            var date: Instant
            // A date that has passed when it is set is not kept.
            repeat {
                date = .now + .microseconds(500)
                timer.fireDate = date
            } while Instant.now >= date
            #expect(timer.fireDate == date)
            loop.run()
            #expect(dates[0] == date)
            #expect(dates.allSatisfy { ($0 - date).multiple(of: .milliseconds(3)) != nil })
        }
    }

    @Test func `a date set in the timer's own handler is kept, and moves the grid`() throws {
        try onLoopThread { loop in
            var dates: [Instant] = []
            var wanted: [Instant] = []
            // A date that has passed when it is set is kept, too, unless the grid has a later one.
            let timer = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { timer in
                dates.append(timer.fireDate)
                if dates.count == 4 { return timer.invalidate() }
                let next = Instant.now + .microseconds(50)
                wanted.append(next)
                timer.fireDate = next
                #expect(timer.fireDate == next)
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(Array(dates.dropFirst()) == wanted)
            #expect(timer.missedFireCount == 0)
        }
    }

    @Test func `a past date set in the handler fires in the next pass`() throws {
        try onLoopThread { loop in
            var log: [String] = []
            loop.add(
                RunLoop.Observer(activities: .beforeTimers) { _, _ in log.append("pass") }, forMode: .default)
            let timer = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { timer in
                log.append("fire")
                if log.count == 6 { timer.invalidate() } else { timer.fireDate = .now - .seconds(1) }
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(log == ["pass", "fire", "pass", "fire", "pass", "fire"])
        }
    }

    @Test func `a timer that does not repeat lives on if its handler sets a date`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(timeInterval: .zero, repeats: false) { timer in
                fires += 1
                if fires < 3 { timer.fireDate = .now }
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(fires == 3)
            #expect(!timer.isValid)
        }
    }

    @Test func `the distant future parks a timer without losing it`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { _ in fires += 1 }
            loop.add(timer, forMode: .default)
            timer.fireDate = .distantFuture
            #expect(timer.fireDate == .distantFuture)
            #expect(loop.run(in: .default, until: .now + .milliseconds(2)) == .timedOut)
            #expect(fires == 0)
            #expect(timer.isValid)
            timer.fireDate = .now
            loop.run(until: .distantPast)
            #expect(fires == 1)
        }
    }

    @Test func `setting the date of an invalid timer does nothing`() throws {
        try onLoopThread { loop in
            let timer = Timer(timeInterval: .zero, repeats: true) { _ in }
            loop.add(timer, forMode: .default)
            timer.invalidate()
            let date = timer.fireDate
            timer.fireDate = .now + .seconds(1)
            #expect(timer.fireDate == date)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a timer may begin in the distant past`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(fireAt: .distantPast, interval: .microseconds(500), repeats: true) { timer in
                fires += 1
                if fires == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(fires == 3)
        }
    }

    @Test func `dates that had passed when a timer was given them are not missed, and keep their grid`()
        throws
    {
        try onLoopThread { loop in
            let start = Instant.now
            let hour = Duration.seconds(3600)
            let timer = Timer(fireAt: start - hour * 5 / 2, interval: hour, repeats: true) { _ in }
            loop.add(timer, forMode: .default)
            loop.run(until: .now)
            #expect(timer.missedFireCount == 0)
            #expect(timer.fireDate == start + hour / 2)
            timer.fireDate = .distantPast
            loop.run(until: .now)
            #expect(timer.missedFireCount == 0)
            #expect(timer.fireDate > .now)
        }
    }

    @Test func `a date set while the timer's mode does not run counts when it does`() throws {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            var fires = 0
            let timer = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { _ in fires += 1 }
            loop.add(timer, forMode: other)
            loop.add(
                Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { _ in }, forMode: .default)
            loop.run(until: .distantPast)
            timer.fireDate = .now + .seconds(100)
            loop.run(in: other, until: .distantPast)
            #expect(fires == 0)
            timer.fireDate = .now
            loop.run(until: .distantPast)
            loop.run(in: other, until: .distantPast)
            #expect(fires == 1)
        }
    }

    @Test func `firing by hand keeps the dates of a repeating timer`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(timeInterval: .seconds(100), repeats: true) { timer in
                fires += 1
                timer.fire()
            }
            let date = timer.fireDate
            timer.fire()
            loop.add(timer, forMode: .default)
            timer.fire()
            #expect(fires == 2)
            #expect(timer.fireDate == date)
            timer.fireDate = .now
            loop.run(until: .distantPast)
            #expect(fires == 3)
        }
    }

    @Test func `firing by hand uses up a timer that does not repeat`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(timeInterval: .zero, repeats: false) { timer in
                fires += 1
                #expect(timer.isValid)
            }
            loop.add(timer, forMode: .default)
            timer.fire()
            timer.fire()
            #expect(fires == 1)
            #expect(!timer.isValid)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a run inside a handler that was fired by hand does not fire it again`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { _ in
                fires += 1
                loop.run(until: .distantPast)
            }
            loop.add(timer, forMode: .default)
            timer.fire()
            #expect(fires == 1)
            loop.run(until: .distantPast)
            #expect(fires == 2)
        }
    }

    @Test func `nor does it if the timer came due while its mode did not run`() throws {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            var fires = 0
            let overdue = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { _ in
                fires += 1
                loop.run(in: other, until: .distantPast)
            }
            loop.add(overdue, forMode: other)
            let later = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in overdue.fire() }
            loop.add(later, forMode: .default)
            loop.run()
            #expect(fires == 1)
        }
    }

    @Test func `a date set in a handler that was fired by hand is kept`() throws {
        try onLoopThread { loop in
            let date = Instant.now + .seconds(200)
            let timer = Timer(timeInterval: .seconds(100), repeats: true) { $0.fireDate = date }
            loop.add(timer, forMode: .default)
            timer.fire()
            #expect(timer.fireDate == date)
            #expect(loop.limitDate(forMode: .default) == date)
        }
    }

    @Test func `a timer that does not repeat lives on if its handler, fired by hand, sets a date`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(timeInterval: .seconds(100), repeats: false) { timer in
                fires += 1
                if fires == 1 { timer.fireDate = .now }
            }
            loop.add(timer, forMode: .default)
            timer.fire()
            #expect(timer.isValid)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(fires == 2)
            #expect(!timer.isValid)
        }
    }

    @Test func `tolerance is at most half the interval of a timer that repeats`() throws {
        let repeating = Timer(timeInterval: .seconds(10), repeats: true) { _ in }
        #expect(repeating.tolerance == .zero)
        repeating.tolerance = .seconds(7)
        #expect(repeating.tolerance == .seconds(5))
        repeating.tolerance = .seconds(3)
        #expect(repeating.tolerance == .seconds(3))
        let once = Timer(timeInterval: .seconds(10), repeats: false) { _ in }
        once.tolerance = .seconds(700)
        #expect(once.tolerance == .seconds(700))
    }

    @Test func `a tolerant timer waits for the wake-up of another one`() throws {
        try onLoopThread { loop in
            var fired: [String] = []
            let date = Instant.now + .milliseconds(1)
            let later = date + .milliseconds(20)
            let lenient = Timer(fireAt: date, interval: .zero, repeats: false) { _ in
                fired.append("lenient")
                #expect(Instant.now >= later)
            }
            let exact = Timer(fireAt: later, interval: .zero, repeats: false) { _ in fired.append("exact") }
            loop.add(lenient, forMode: .default)
            loop.add(exact, forMode: .default)
            // The tolerance is set after the timer was added, so the fire must be planned again.
            lenient.tolerance = .seconds(100)
            loop.run()
            #expect(fired == ["lenient", "exact"])
        }
    }

    @Test func `a tolerant timer keeps its grid and never fires early`() throws {
        try onLoopThread { loop in
            var dates: [Instant] = []
            let timer = Timer(fireAt: .now + .milliseconds(1), interval: .milliseconds(4), repeats: true) {
                timer in
                #expect(Instant.now >= timer.fireDate)
                dates.append(timer.fireDate)
                if dates.count == 4 { timer.invalidate() }
            }
            timer.tolerance = .milliseconds(2)
            let first = timer.fireDate
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(dates[0] == first)
            #expect(dates.allSatisfy { ($0 - first).multiple(of: .milliseconds(4)) != nil })
        }
    }
}

extension Duration {
    /// The number of intervals in the duration, or nil if it is not an integer.
    func multiple(of interval: Duration) -> Int? {
        let count = Int((self / interval).rounded())
        return interval * count == self ? count : nil
    }
}

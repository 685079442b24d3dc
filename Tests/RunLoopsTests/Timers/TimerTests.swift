import RunLoops
import TestSupport
import Testing

/// The dates and the order in which timers fire.
@Suite struct TimerTests {
    private typealias Instant = ContinuousClock.Instant

    // Guarantees: A timer never fires before its date.
    @Test func `a timer first fires one interval after it was made, not before`() throws {
        try onLoopThread { loop in
            let made = Instant.now
            var fired: Instant?
            Timer.scheduledTimer(withTimeInterval: .milliseconds(20), repeats: false) { _ in fired = .now }
            loop.run()
            let date = try #require(fired)
            #expect(date >= made + .milliseconds(20))
        }
    }

    @Test func `the interval counts from the making, not from the adding`() throws {
        try onLoopThread { loop in
            let timer = Timer(timeInterval: .seconds(100), repeats: true) { _ in }
            let made = Instant.now
            #expect(timer.fireDate <= made + .seconds(100))
            loop.add(timer, forMode: .default)
            #expect(timer.fireDate <= made + .seconds(100))
        }
    }

    @Test func `a repeating timer keeps to the grid of its first date, and counts what it missed`() throws {
        try onLoopThread { loop in
            let interval = Duration.milliseconds(10)
            var dates: [Instant] = []
            let timer = Timer(fireAt: .now, interval: interval, repeats: true) { timer in
                #expect(Instant.now >= timer.fireDate)
                dates.append(timer.fireDate)
                if dates.count == 4 { timer.invalidate() }
            }
            let first = timer.fireDate
            loop.add(timer, forMode: .default)
            // The loop starts late.
            while Instant.now < first + .milliseconds(105) {}
            loop.run()
            #expect(dates.count == 4)
            #expect(dates[0] == first)
            #expect(dates[1] - first >= .milliseconds(110))
            let places = dates.map { ($0 - first).multiple(of: interval) }
            let last = try #require(places[3])
            #expect(!places.contains(nil))
            #expect(timer.missedFireCount == last - 3)
        }
    }

    @Test func `fires missed during a long handler are made up for by one`() throws {
        try onLoopThread { loop in
            let inner = RunLoop.Mode("inner")
            loop.add(Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { _ in }, forMode: inner)
            var dates: [Instant] = []
            let timer = Timer(timeInterval: .milliseconds(2), repeats: true) { timer in
                dates.append(timer.fireDate)
                if dates.count == 1 { loop.run(in: inner, until: timer.fireDate + .milliseconds(17)) }
                if dates.count == 2 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.run()
            let skipped = try #require((dates[1] - dates[0]).multiple(of: .milliseconds(2)))
            #expect(skipped >= 9)
            #expect(timer.missedFireCount == skipped - 1)
        }
    }

    // Guarantees: A timer never fires before its date.
    @Test(arguments: 0..<5 as Range<UInt64>) func `of thousands of timers, none fires early or out of order`(
        seed: UInt64
    ) throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: seed)
            let start = Instant.now
            var expected: [(date: Instant, number: Int)] = []
            var fired: [Int] = []
            var early = 0
            for number in 0..<2_000 {
                let date = start + .microseconds(Int.random(in: -1_000..<100_000, using: &random))
                expected.append((date, number))
                let timer = Timer(fireAt: date, interval: .zero, repeats: false) { timer in
                    if Instant.now < timer.fireDate { early += 1 }
                    fired.append(number)
                }
                loop.add(timer, forMode: .default)
            }
            loop.run()
            expected.sort { ($0.date, $0.number) < ($1.date, $1.number) }
            #expect(early == 0)
            #expect(fired == expected.map(\.number))
        }
    }

    // Guarantees: The order of blocks of one thread, of messages of one sender to one port, and of timers.
    @Test func `timers due together fire in the order of their dates, equal ones in that of adding`() throws {
        try onLoopThread { loop in
            let date = Instant.now
            var fired: [Int] = []
            func timer(_ number: Int, at date: Instant) -> Timer {
                let timer = Timer(fireAt: date, interval: .seconds(100), repeats: true) { _ in
                    fired.append(number)
                }
                // Tolerant timers are in a list of their own, but the order is common to all.
                if number % 3 == 0 { timer.tolerance = .seconds(50) }
                return timer
            }
            let made = (0..<20).map { timer($0, at: date) }
            for timer in made.reversed() { loop.add(timer, forMode: .default) }
            loop.add(timer(20, at: date - .seconds(1)), forMode: .default)
            loop.run(until: .distantPast)
            #expect(fired == Array((0...20).reversed()))
            // The next fires have equal dates, too.
            fired = []
            for timer in made { timer.fireDate = date }
            loop.run(until: .distantPast)
            #expect(fired == Array((0..<20).reversed()))
        }
    }

    @Test func `a run inside a timer's handler does not fire it again, but fires others`() throws {
        try onLoopThread { loop in
            var depth = 0
            var fires = 0
            var otherFires = 0
            let timer = Timer(timeInterval: .milliseconds(1), repeats: true) { timer in
                depth += 1
                fires += 1
                #expect(depth == 1)
                let before = otherFires
                loop.run(until: .now + .milliseconds(5))
                #expect(otherFires > before)
                depth -= 1
                if fires == 2 { timer.invalidate() }
            }
            let other = Timer(timeInterval: .milliseconds(1), repeats: true) { _ in otherFires += 1 }
            loop.add(timer, forMode: .default)
            loop.add(other, forMode: .default)
            while timer.isValid { loop.run(mode: .default, before: .now + .milliseconds(1)) }
            #expect(fires == 2)
        }
    }

    @Test func `a timer that a handler adds fires in a later pass`() throws {
        try onLoopThread { loop in
            var log: [String] = []
            loop.add(
                RunLoop.Observer(activities: .beforeTimers) { _, _ in log.append("pass") }, forMode: .default)
            let first = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in
                log.append("first")
                let second = Timer(fireAt: .distantPast, interval: .zero, repeats: false) { _ in
                    log.append("second")
                }
                loop.add(second, forMode: .default)
            }
            loop.add(first, forMode: .default)
            loop.run()
            #expect(log == ["pass", "first", "pass", "second"])
        }
    }

    @Test func `what an earlier handler invalidates, postpones or removes does not fire`() throws {
        try onLoopThread { loop in
            let date = Instant.now
            var fired: [String] = []
            func timer(_ name: String) -> Timer {
                Timer(fireAt: date, interval: .zero, repeats: false) { _ in fired.append(name) }
            }
            let (invalidated, postponed, removed) = (timer("b"), timer("c"), timer("d"))
            let first = Timer(fireAt: date, interval: .zero, repeats: false) { _ in
                fired.append("a")
                invalidated.invalidate()
                postponed.fireDate = .now + .seconds(100)
                loop.remove(removed, forMode: .default)
            }
            for timer in [first, invalidated, postponed, removed, timer("e")] {
                loop.add(timer, forMode: .default)
            }
            loop.run(until: .distantPast)
            #expect(fired == ["a", "e"])
            #expect(postponed.isValid && removed.isValid)
            postponed.fireDate = date
            loop.add(removed, forMode: .default)
            loop.run(until: .distantPast)
            #expect(fired == ["a", "e", "c", "d"])
        }
    }

    @Test func `a timer that comes due while its mode does not run fires once when it does`() throws {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            var fired: [String] = []
            let interval = Duration.milliseconds(300)
            let overdue = Timer(fireAt: .now, interval: interval, repeats: true) { _ in
                fired.append("overdue")
            }
            let start = overdue.fireDate
            loop.add(overdue, forMode: other)
            loop.add(
                Timer(fireAt: .now, interval: .zero, repeats: false) { _ in fired.append("once") },
                forMode: other)
            loop.add(
                Timer(fireAt: .now, interval: .zero, repeats: false) { _ in fired.append("default") },
                forMode: .default)
            loop.run()
            #expect(fired == ["default"])
            #expect(loop.run(in: .default, until: .hang) == .finished)
            // Three dates pass while the loop does not run.
            while Instant.now < start + interval * 3 {}
            loop.run(in: other, until: .distantPast)
            #expect(fired == ["default", "overdue", "once"])
            #expect(overdue.missedFireCount >= 3)
            #expect(overdue.fireDate > start + interval * 3)
        }
    }

    @Test func `an interval of zero or less repeats every 100 µs`() throws {
        for interval in [Duration.zero, .seconds(-5)] {
            try onLoopThread { loop in
                var dates: [Instant] = []
                let timer = Timer(timeInterval: interval, repeats: true) { timer in
                    dates.append(timer.fireDate)
                    if dates.count == 5 { timer.invalidate() }
                }
                #expect(timer.timeInterval == .microseconds(100))
                loop.add(timer, forMode: .default)
                loop.run()
                let steps = zip(dates, dates.dropFirst()).map { $1 - $0 }
                #expect(steps.allSatisfy { $0.multiple(of: .microseconds(100)) ?? 0 >= 1 })
            }
        }
    }

    @Test func `a hundred thousand timers, a third of them cancelled, fire once each and in order`() throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: 1)
            let start = Instant.now
            var dates: [Instant] = []
            var timers: [Timer] = []
            for _ in 0..<100_000 {
                let date = start + .microseconds(Int.random(in: 0..<200_000, using: &random))
                timers.append(
                    Timer(fireAt: date, interval: .zero, repeats: false) { dates.append($0.fireDate) })
            }
            for timer in timers { loop.add(timer, forMode: .default) }
            for timer in timers.enumerated().filter({ $0.offset % 3 == 0 }).map(\.element) {
                timer.invalidate()
            }
            let wanted = timers.filter(\.isValid).map(\.fireDate).sorted()
            loop.run()
            #expect(dates == wanted)
            #expect(loop.statistics.timerFires == 66_666)
        }
    }
}

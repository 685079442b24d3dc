import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

/// Wall clock timers take dates of Foundation, and return them.
@Suite struct DatedWallClockTimerTests {
    @Test(arguments: [
        Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSince1970: 1_800_000_000), .distantPast,
        .distantFuture, Date(timeIntervalSinceReferenceDate: 800_000_000.25),
    ])
    func `a date of whole seconds or quarters comes back`(date: Date) {
        let timer = WallClockTimer(fireAt: date) { _ in }
        #expect(timer.fireDate == date)
    }

    @Test(arguments: 0..<100)
    func `no date becomes an earlier one, or one that is two microseconds later`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let date = Date(timeIntervalSinceReferenceDate: .random(in: 0..<2e9, using: &random))
        let found: Date = try #require(WallClockTimer(fireAt: date) { _ in }.fireDate)
        #expect(found >= date && found.timeIntervalSince(date) < 2e-6)
    }

    @Test(arguments: [Double.infinity, -.infinity, 1e300, -1e300])
    func `a date that no calendar reaches is far away`(seconds: Double) throws {
        let timer = WallClockTimer(fireAt: Date(timeIntervalSinceReferenceDate: seconds)) { _ in }
        let date: Date = try #require(timer.fireDate)
        #expect(abs(date.timeIntervalSinceNow) > 9e11 && (date > .now) == (seconds > 0))
    }

    @Test func `a date that is not a number ends the program with a message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = WallClockTimer(fireAt: Date(timeIntervalSinceReferenceDate: .nan)) { _ in }
        }
        #expect(result?.message.contains("WallClockTimer.init: the date is not a number") == true)
    }

    @Test func `a closure computes the next date, and the timer ends without one`() throws {
        try onLoopThread { loop in
            var (asked, fires): ([Date], [Date]) = ([], [])
            let timer = WallClockTimer { date in
                asked.append(date)
                return asked.count <= 3 ? date.addingTimeInterval(0.005) : nil
            } handler: { _ in
                fires.append(.now)
            }
            try loop.add(timer, forMode: .default)
            let first: Date = try #require(timer.fireDate)
            #expect(abs(first.timeIntervalSince(asked[0]) - 0.005) < 1e-5)
            loop.run()
            #expect(fires.count == 3 && asked.count == 4)
            #expect(zip(fires, asked).allSatisfy { $0.timeIntervalSince($1) > 0.004_999 })
            #expect(!timer.isValid)
        }
    }

    @Test func `the first date after a date that has just come is never the same one`() throws {
        try onLoopThread { loop in
            // A grid of 0.7 µs, on which the rounding of dates decides which one is next.
            var count = 0
            let timer = WallClockTimer { date in
                let grid = 7e-7
                let next = (date.timeIntervalSinceReferenceDate / grid).rounded(.down) * grid + grid
                return count < 1_000 ? Date(timeIntervalSinceReferenceDate: next) : nil
            } handler: { _ in
                count += 1
            }
            try loop.add(timer, forMode: .default)
            loop.run()
            #expect(count == 1_000)
        }
    }
}

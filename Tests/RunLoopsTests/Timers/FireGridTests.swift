import TestSupport
import Testing

@testable import RunLoops

/// The next fire of a repeating timer.
@Suite struct FireGridTests {
    private func next(_ date: Int64, every interval: Int64, now: Int64) -> (Int64, Int) {
        let next = FireGrid.next(
            after: Moment(nanoseconds: date), interval: interval, now: Moment(nanoseconds: now))
        return (next.date.nanoseconds, next.missed)
    }

    @Test func `a fire in time is followed by the next date of the grid`() {
        #expect(next(100, every: 10, now: 100) == (110, 0))
        #expect(next(100, every: 10, now: 109) == (110, 0))
    }

    @Test func `a late fire skips the dates that have passed, and counts them`() {
        #expect(next(100, every: 10, now: 125) == (130, 2))
        #expect(next(-100, every: 10, now: 5) == (10, 10))
    }

    @Test func `a date that is now is not in the future`() {
        #expect(next(100, every: 10, now: 110) == (120, 1))
        #expect(next(100, every: 10, now: 120) == (130, 2))
    }

    @Test func `a fire before its date is followed by the date after it`() {
        #expect(next(100, every: 10, now: 42) == (110, 0))
    }

    @Test func `a date that cannot be counted is never`() {
        #expect(next(100, every: .max, now: 100) == (.max, 0))
        #expect(next(.max - 5, every: 10, now: .max - 5) == (.max, 0))
        #expect(next(.max - 5, every: 2, now: .max - 1) == (.max, 2))
    }

    @Test func `a grid that began in the distant past goes on from now`() {
        let (date, missed) = next(.min, every: 1_000, now: 5_000_000_000)
        #expect(date > 5_000_000_000)
        #expect(date <= 5_000_001_000)
        #expect(missed == 9_223_372_041_854_775)
        #expect(next(.min, every: 1, now: 5) == (6, .max))
    }

    @Test(
        arguments: [
            (100, 10, 42, 100), (100, 10, 100, 100), (100, 10, 109, 100), (100, 10, 125, 120),
            (.min, 1_000, 5_000_000_000, 4_999_999_192), (.min, .max, 0, -1),
        ] as [(Int64, Int64, Int64, Int64)])
    func `the last date of the grid until now keeps its place on the grid`(
        date: Int64, interval: Int64, now: Int64, latest: Int64
    ) {
        let found = FireGrid.latest(
            from: Moment(nanoseconds: date), interval: interval, now: Moment(nanoseconds: now))
        #expect(found == Moment(nanoseconds: latest))
    }

    @Test(arguments: 0..<300 as Range<UInt64>) func `the next date is the first one of the grid after now`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let date = Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)
        let interval = Int64.random(in: 1...1_000_000, using: &random)
        let now = date + Int64.random(in: 0...1_000_000_000, using: &random)
        let (following, missed) = next(date, every: interval, now: now)
        #expect(following > now)
        #expect(following - interval <= now)
        #expect((following - date) % interval == 0)
        #expect(date + Int64(missed + 1) * interval == following)
    }
}

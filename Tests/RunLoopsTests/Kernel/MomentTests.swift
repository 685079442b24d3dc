import TestSupport
import Testing

@testable import RunLoops

/// Moments in nanoseconds, and the conversions to them.
@Suite struct MomentTests {
    @Test func `a length that is no whole nanosecond is rounded up`() {
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1).nanosecondsRoundedUp == 1)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_000).nanosecondsRoundedUp == 1)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_001).nanosecondsRoundedUp == 2)
        #expect(
            Duration(secondsComponent: 2, attosecondsComponent: 500_000_000).nanosecondsRoundedUp
                == 2_000_000_001)
    }

    @Test func `a negative length is rounded up too, towards zero`() {
        #expect(Duration(secondsComponent: 0, attosecondsComponent: -1).nanosecondsRoundedUp == 0)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: -999_999_999).nanosecondsRoundedUp == 0)
        #expect(
            Duration(secondsComponent: 0, attosecondsComponent: -1_000_000_000).nanosecondsRoundedUp == -1)
        #expect(
            Duration(secondsComponent: 0, attosecondsComponent: -1_500_000_000).nanosecondsRoundedUp == -1)
        #expect(
            Duration(secondsComponent: -2, attosecondsComponent: -500_000_000).nanosecondsRoundedUp
                == -2_000_000_000)
    }

    @Test func `a length beyond what can be counted is held at the end`() {
        let largest = Duration.nanoseconds(Int64.max)
        let smallest = Duration.nanoseconds(Int64.min)
        let attosecond = Duration(secondsComponent: 0, attosecondsComponent: 1)
        #expect(largest.nanosecondsRoundedUp == .max)
        #expect((largest + attosecond).nanosecondsRoundedUp == .max)
        #expect((largest + .nanoseconds(1)).nanosecondsRoundedUp == .max)
        #expect(Duration.seconds(Int64.max).nanosecondsRoundedUp == .max)
        #expect(smallest.nanosecondsRoundedUp == .min)
        #expect((smallest - attosecond).nanosecondsRoundedUp == .min)
        #expect((smallest - .nanoseconds(1)).nanosecondsRoundedUp == .min)
        #expect(Duration.seconds(Int64.min).nanosecondsRoundedUp == .min)
        #expect((Duration.seconds(Int64.max) * 2).nanosecondsRoundedUp == .max)
        #expect((Duration.seconds(Int64.min) * 2).nanosecondsRoundedUp == .min)
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func `rounding up adds less than a nanosecond`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let length = Duration(
            secondsComponent: .random(in: -9_000_000_000...9_000_000_000, using: &random),
            attosecondsComponent: .random(
                in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random))
        let added = Duration.nanoseconds(length.nanosecondsRoundedUp) - length
        #expect(added >= .zero)
        #expect(added < .nanoseconds(1))
    }

    @Test func `a moment moves, and is held at the ends of time`() {
        #expect(Moment(nanoseconds: 5).advanced(by: 7) == Moment(nanoseconds: 12))
        #expect(Moment(nanoseconds: 5).advanced(by: -7) == Moment(nanoseconds: -2))
        #expect(Moment(nanoseconds: 5).advanced(by: .max) == .never)
        #expect(Moment(nanoseconds: -5).advanced(by: .min) == Moment(nanoseconds: .min))
        #expect(Moment.never.advanced(by: 1) == .never)
    }

    @Test func `the distant future never comes and the distant past has always passed`() {
        #expect(Moment(.distantFuture) == .never)
        #expect(Moment.never.instant == .distantFuture)
        #expect(Moment(.distantPast) == Moment(nanoseconds: .min))
        #expect(Moment(.distantPast).instant == .distantPast)
        #expect(Moment(.distantPast) < Moment.now())
        #expect(ContinuousClock.Instant.distantPast < .now)
        #expect(ContinuousClock.Instant.distantFuture > .now)
    }

    @Test func `an instant beyond the distant ones counts as them`() {
        #expect(Moment(ContinuousClock.Instant.distantFuture.advanced(by: .seconds(1))) == .never)
        #expect(Moment(ContinuousClock.Instant.distantPast.advanced(by: .seconds(-1))).nanoseconds == .min)
        #expect(Moment(ContinuousClock.now + .seconds(Int64.max)) == .never)
    }

    @Test func `an instant and back is the same to the nanosecond, and never earlier`() {
        let instant = ContinuousClock().systemEpoch.advanced(by: .seconds(12_345) + .nanoseconds(678))
        #expect(Moment(instant).nanoseconds == 12_345_000_000_678)
        #expect(Moment(instant).instant == instant)
        let between = instant.advanced(by: Duration(secondsComponent: 0, attosecondsComponent: 1))
        #expect(Moment(between).instant == instant.advanced(by: .nanoseconds(1)))
    }

    @Test func `the clock is that of ContinuousClock`() {
        let before = ContinuousClock.now
        let moment = Moment.now()
        let after = ContinuousClock.now
        #expect(before <= moment.instant)
        #expect(moment.instant <= after)
    }

    @Test(arguments: [
        Duration.seconds(Int64.max), .seconds(Int64.min),
        Duration(secondsComponent: .max, attosecondsComponent: 0) * 18,
    ])
    func `a pause of any length is doubled up to its limit, and no further`(length: Duration) {
        for (shortest, longest) in [(Duration.milliseconds(1), length), (length, length)] {
            var backoff = ExponentialBackoff(from: shortest, to: longest)
            for _ in 0..<300 {
                let pause = backoff.begin()
                #expect(pause >= .zero && pause <= max(shortest, longest, .zero))
            }
        }
    }

    @Test func `durations beyond every date are accepted wherever a member takes a duration or a date`()
        throws
    {
        let extremes = [
            Duration.seconds(Int64.max), .seconds(Int64.min), .zero,
            Duration(secondsComponent: .max, attosecondsComponent: 0) * 18,
        ]
        try onLoopThread { loop in
            for length in extremes {
                loop.perform(after: length) {}.cancel()
                let timer = Timer(timeInterval: length, repeats: true) { _ in }
                timer.tolerance = max(length, .zero)
                loop.add(timer, forMode: .default)
                timer.fireDate = .distantPast
                timer.fireDate = .distantFuture
                timer.invalidate()
                for date in [ContinuousClock.Instant.distantPast, .distantFuture] {
                    let dated = Timer(fireAt: date, interval: length, repeats: true) { _ in }
                    loop.add(dated, forMode: .default)
                    dated.invalidate()
                }
                if length > .zero {
                    try RunLoopWatchdog(threshold: length) { _ in }.stop()
                    loop.waitPolicy = .spin(for: length)
                    loop.waitPolicy = .park
                }
            }
            let source = try LibrarySource { _ in }
            try loop.add(source, forMode: .default)
            for date in [ContinuousClock.Instant.distantPast, .distantFuture] { source.deadline = date }
            source.invalidate()
        }
    }
}

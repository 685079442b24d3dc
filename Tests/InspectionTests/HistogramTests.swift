import TestSupport
import Testing

@testable import Inspection

/// The number of times in each range of lengths.
@Suite struct HistogramTests {
    @Test func `each bucket begins where the one before ends, up to the longest time`() {
        var next: Int64 = 0
        var bucket = 0
        while true {
            #expect(Histogram.bucket(of: next) == bucket)
            let end = Histogram.upperEnd(of: bucket)
            #expect(end >= next)
            #expect(Histogram.bucket(of: end) == bucket)
            #expect(Double(end - next) <= Double(max(next, 1)) / 8)
            if end == .max { return }
            next = end + 1
            bucket += 1
        }
    }

    @Test func `quantiles are those of the times, to an eighth`() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<50 {
            var histogram = Histogram()
            let times = (0..<Int.random(in: 1...500, using: &random)).map { _ in
                Int64.random(in: 0...(1 << Int64.random(in: 1...40, using: &random)), using: &random)
            }.sorted()
            for time in times.shuffled(using: &random) { histogram.add(time) }
            #expect(histogram.count == times.count)
            #expect(histogram.sum == times.reduce(0, +))
            #expect(histogram.longest == times.last)
            for share in [0, 0.25, 0.5, 0.9, 0.99, 1] {
                let rank = max(1, Int((Double(times.count) * share).rounded(.up)))
                let exact = times[rank - 1]
                let found = histogram.quantile(share)
                #expect(found >= exact)
                #expect(Double(found) <= Double(exact) * 1.125 + 1)
            }
            #expect(histogram.count(upTo: .max) == times.count)
        }
    }

    @Test func `an empty one has no times, and a negative time counts as zero`() {
        var histogram = Histogram()
        #expect(histogram.quantile(0.5) == 0)
        histogram.add(-5)
        #expect(histogram.count == 1)
        #expect(histogram.sum == 0)
        #expect(histogram.count(upTo: 0) == 1)
    }

    @Test(
        arguments: [
            (.zero, 0), (.seconds(9_223_372_036), 9_223_372_036_000_000_000),
            (.nanoseconds(Int64.max), .max), (.seconds(9_223_372_036) + .milliseconds(900), .max),
            (.seconds(Int64.max) + .seconds(Int64.max), .max), (.nanoseconds(Int64.min), .min),
            (.seconds(-9_223_372_036) - .milliseconds(900), .min), (.seconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func `a length of any size is a number of nanoseconds`(length: Duration, nanoseconds: Int64) {
        #expect(length.wholeNanoseconds == nanoseconds)
    }
}

extension Histogram {
    /// The number of durations in the buckets that end at or below a limit.
    fileprivate func count(upTo nanoseconds: Int64) -> Int {
        buckets.enumerated().reduce(0) { sum, bucket in
            Histogram.upperEnd(of: bucket.offset) <= nanoseconds ? sum + bucket.element : sum
        }
    }
}

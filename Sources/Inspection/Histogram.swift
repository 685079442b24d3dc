/// A histogram of durations, with eight buckets for each power of two.
///
/// The durations in one bucket differ by at most an eighth. A histogram of durations from nanoseconds to hours therefore takes
/// little memory, and its quantiles are accurate to 12.5 %.
package struct Histogram: Codable, Hashable, Sendable {
    /// The number of durations in the histogram.
    package private(set) var count = 0
    /// The sum of the durations, in nanoseconds; at most `Int64.max`.
    package private(set) var sum: Int64 = 0
    /// The longest duration, in nanoseconds.
    package private(set) var longest: Int64 = 0
    /// The number of durations in each bucket, from the bucket of the shortest durations to the last bucket that is not empty.
    private(set) var buckets: [Int] = []

    /// Makes an empty histogram.
    package init() {}

    /// The number of buckets that a histogram can have.
    private static let mostBuckets = bucket(of: .max) + 1
    /// The maximum number of durations of a histogram that is decoded; a recorder has fewer by far.
    private static let mostDecoded = 1 << 53

    /// Decodes a histogram, which another process can have written.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if the values are not those of a histogram.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        count = try values.decode(Int.self, forKey: .count)
        sum = try values.decode(Int64.self, forKey: .sum)
        longest = try values.decode(Int64.self, forKey: .longest)
        buckets = try values.decode([Int].self, forKey: .buckets)
        let isOne =
            sum >= 0 && longest >= 0 && buckets.count <= Histogram.mostBuckets
            && buckets.allSatisfy { 0...Histogram.mostDecoded ~= $0 }
            // The sum of so few numbers of this size does not overflow.
            && buckets.reduce(0, +) == count && count <= Histogram.mostDecoded
        if !isOne {
            throw DecodingError.dataCorruptedError(
                forKey: .buckets, in: values, debugDescription: "the values are not those of a histogram")
        }
    }

    /// Adds a duration to the histogram.
    ///
    /// - Parameter nanoseconds: The duration; a negative one counts as zero.
    package mutating func add(_ nanoseconds: Int64) {
        let time = max(0, nanoseconds)
        let bucket = Histogram.bucket(of: time)
        while buckets.count <= bucket { buckets.append(0) }
        buckets[bucket] += 1
        count += 1
        sum = sum.clampedSum(time)
        longest = max(longest, time)
    }

    /// Returns a quantile: the duration that a given share of the durations does not exceed.
    ///
    /// - Parameter share: The share, from 0 to 1; 0.99 for the 99th percentile.
    /// - Returns: The upper end of the bucket that contains the quantile, at most ``longest``; 0 if the histogram is empty.
    package func quantile(_ share: Double) -> Int64 {
        let rank = max(1, Int((Double(count) * min(max(share, 0), 1)).rounded(.up)))
        var below = 0
        for (bucket, number) in buckets.enumerated() {
            below += number
            if below >= rank { return min(longest, Histogram.upperEnd(of: bucket)) }
        }
        return longest
    }

    // Each of the first 16 buckets is for a single number of nanoseconds. After these, there are eight buckets for each power of
    // two.

    static func bucket(of time: Int64) -> Int {
        if time < 16 { return Int(time) }
        let power = 63 - time.leadingZeroBitCount
        return 16 + (power - 4) * 8 + Int(time >> (power - 3) & 7)
    }

    static func upperEnd(of bucket: Int) -> Int64 {
        if bucket < 16 { return Int64(bucket) }
        let power = (bucket - 16) / 8 + 4
        let eighth = Int64((bucket - 16) % 8)
        // The upper end of the last bucket is `Int64.max`.
        return Int64(truncatingIfNeeded: (UInt64(8 + eighth + 1) << UInt64(power - 3)) - 1)
    }
}

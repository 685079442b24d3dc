/// Goes through numbers in an order that is as good as random, and comes to each of them.
struct Scatter {
    private let count: Int
    private let distance: Int
    private var position = 0

    /// Makes it begin.
    ///
    /// - Parameters:
    ///   - count: How many numbers; no multiple of 61,813.
    ///   - range: Less than this; they lie apart as far as fits.
    init(count: Int, in range: Int) {
        self.count = count
        distance = range / count
    }

    /// The next number.
    @inline(__always)
    mutating func next() -> Int {
        // A prime: it shares no factor with the count.
        position = (position + 61_813) % count
        return position * distance
    }
}

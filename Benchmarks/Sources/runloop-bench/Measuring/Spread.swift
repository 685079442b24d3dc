/// A figure that was taken once a round: its median, and how far the rounds lie apart.
struct Spread: Codable {
    /// Half of the rounds lie below.
    let median: Double
    /// A quarter of the rounds lie below this, a quarter above the other.
    let lowerQuartile, upperQuartile: Double
    /// The outermost rounds.
    let least, most: Double

    /// Sums up the rounds; `nil` without any.
    init?(_ rounds: [Double]) {
        let sorted = rounds.filter(\.isFinite).sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        func quantile(_ share: Double) -> Double {
            let position = share * Double(sorted.count - 1)
            let below = Int(position)
            let above = min(below + 1, sorted.count - 1)
            return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
        }
        median = quantile(0.5)
        lowerQuartile = quantile(0.25)
        upperQuartile = quantile(0.75)
        least = first
        most = last
    }

    /// Of the quotients of two figures of the same round.
    ///
    /// What slowed the machine down for a while slowed both, and cancels out.
    init?(ratios figures: [Double], to yardstick: [Double]) {
        self.init(zip(figures, yardstick).map { $0 / $1 })
    }
}

internal import Foundation
internal import Histogram

extension Histogram {
    /// The shares of all samples in steps of a twentieth of a decade.
    ///
    /// - Parameter value: What a sample stands for, in nanoseconds.
    /// - Returns: The steps that have any, in order.
    func bins(of value: (Double) -> Double = { $0 }) -> [Chart.Bin] {
        var shares: [Int: Double] = [:]
        for step in recordedValues() {
            let bin = Int((log10(value(Double(step.value))) * 20).rounded(.down))
            shares[bin, default: 0] += Double(step.count) / Double(totalCount)
        }
        return shares.sorted { $0.key < $1.key }.map {
            Chart.Bin(start: pow(10, Double($0.key) / 20), share: $0.value)
        }
    }
}

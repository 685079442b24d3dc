internal import Foundation

/// Distributions below each other on one logarithmic axis.
struct DistributionChart {
    let title: String
    let series: [Chart.Distribution]

    private static let rowHeight = 46.0
    private static let top = 24.0
    /// The number of steps in a decade of a distribution.
    private static let binsPerDecade = 20.0

    /// The drawing.
    var svg: String {
        let starts = series.flatMap(\.bins).map(\.start)
        guard let least = starts.min(), let most = starts.max() else { return "" }
        let firstDecade = log10(least).rounded(.down)
        let lastDecade = max(log10(most).rounded(.up), firstDecade + 1)
        func x(_ nanoseconds: Double) -> Double {
            let share = (log10(nanoseconds) - firstDecade) / (lastDecade - firstDecade)
            return SVG.plotStart + min(max(share, 0), 1) * (SVG.plotEnd - SVG.plotStart)
        }
        let bottom = Self.top + Double(series.count) * Self.rowHeight
        var parts: [String] = []
        for decade in Int(firstDecade)...Int(lastDecade) {
            let position = x(pow(10, Double(decade)))
            parts.append(SVG.line(x1: position, y1: Self.top - 4, x2: position, y2: bottom, style: "grid"))
            parts.append(
                SVG.text(
                    NumberFormat.time(ofDecade: decade), x: position, y: bottom + 18, anchor: "middle",
                    style: "axis")
            )
        }
        parts.append(SVG.text("p50", x: SVG.plotEnd + 72, y: 14, anchor: "end", style: "axis"))
        parts.append(SVG.text("p99 µs", x: SVG.width - 2, y: 14, anchor: "end", style: "axis"))
        for (index, distribution) in series.enumerated() {
            let base = Self.top + Double(index + 1) * Self.rowHeight - 10
            parts += row(distribution, base: base, x: x)
        }
        return SVG.chart(title: title, height: bottom + 26, parts)
    }

    private func row(_ distribution: Chart.Distribution, base: Double, x: (Double) -> Double) -> [String] {
        let style = distribution.role.rawValue
        let peak = distribution.bins.map(\.share).max() ?? 1
        let step = pow(10, 1 / Self.binsPerDecade)
        var points: [(x: Double, y: Double)] = []
        for bin in distribution.bins {
            let (left, right) = (x(bin.start), x(bin.start * step))
            let y = base - bin.share / peak * (Self.rowHeight - 14)
            // Returns to the base line between bins, so that a gap without samples stays empty.
            points += [(left, base), (left, y), (right, y), (right, base)]
        }
        let (median, ninetyNinth) = (x(distribution.median), x(distribution.ninetyNinth))
        let format = NumberFormat.microseconds
        return [
            SVG.line(x1: SVG.plotStart, y1: base, x2: SVG.plotEnd, y2: base, style: "grid"),
            SVG.text(distribution.name, x: SVG.plotStart - 12, y: base - 2, anchor: "end", style: "name"),
            SVG.shape(points, style: style),
            SVG.shape([(median - 5, base + 8), (median + 5, base + 8), (median, base + 1)], style: "mark"),
            SVG.line(x1: ninetyNinth, y1: base - 14, x2: ninetyNinth, y2: base + 4, style: "tick"),
            SVG.text(
                format.text(distribution.median), x: SVG.plotEnd + 72, y: base - 2, anchor: "end",
                style: "value"),
            SVG.text(
                format.text(distribution.ninetyNinth), x: SVG.width - 2, y: base - 2, anchor: "end",
                style: "axis"),
        ]
    }
}

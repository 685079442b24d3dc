internal import Foundation

/// Groups of bars, one below the other, on an axis that begins at zero.
struct BarChart {
    let title: String
    let unit: String
    let groups: [Chart.BarGroup]

    private static let barHeight = 11.0
    private static let groupGap = 14.0
    private static let top = 30.0

    /// The drawing.
    var svg: String {
        let most = groups.flatMap(\.bars).map(\.value.upperQuartile).max() ?? 0
        guard most > 0 else { return "" }
        let step = SVG.roundStep(most / 5)
        let end = (most / step).rounded(.up) * step
        func x(_ value: Double) -> Double { SVG.plotStart + value / end * (SVG.plotEnd - SVG.plotStart) }
        let rows = groups.reduce(0.0) { $0 + Double($1.bars.count) * Self.barHeight + Self.groupGap }
        let bottom = Self.top + rows
        var parts: [String] = []
        for value in stride(from: 0, through: end, by: step) {
            parts.append(SVG.line(x1: x(value), y1: Self.top - 6, x2: x(value), y2: bottom, style: "grid"))
            let label = String(format: "%g", value / 1e6) + (value == 0 ? "" : " " + unit)
            parts.append(SVG.text(label, x: x(value), y: bottom + 18, anchor: "middle", style: "axis"))
        }
        parts += legend
        var y = Self.top
        for group in groups {
            let middle = y + Double(group.bars.count) * Self.barHeight / 2 + 4
            parts.append(SVG.text(group.name, x: SVG.plotStart - 12, y: middle, anchor: "end", style: "name"))
            for (index, bar) in group.bars.enumerated() {
                parts += drawn(bar, role: group.role, index: index, y: y, x: x)
                y += Self.barHeight
            }
            y += Self.groupGap
        }
        return SVG.chart(title: title, height: bottom + 26, parts)
    }

    private func drawn(
        _ bar: Chart.Bar, role: Chart.Role, index: Int, y: Double, x: (Double) -> Double
    ) -> [String] {
        let (value, height) = (bar.value, Self.barHeight - 2)
        let end = x(max(value.median, value.upperQuartile)) + 6
        return [
            SVG.box(
                x: SVG.plotStart, y: y, width: x(value.median) - SVG.plotStart, height: height,
                style: role.rawValue, opacity: Self.opacity(index)),
            SVG.line(
                x1: x(value.lowerQuartile), y1: y + height / 2, x2: x(value.upperQuartile),
                y2: y + height / 2,
                style: "tick"),
            SVG.text(NumberFormat.millions.text(value.median), x: end, y: y + height - 0.5, style: "bar"),
        ]
    }

    /// The shade of each bar of a group.
    private var legend: [String] {
        let names = groups.map { $0.bars.map(\.name) }.max { $0.count < $1.count } ?? []
        return names.enumerated().flatMap { index, name in
            let x = SVG.plotStart + Double(index) * 125
            return [
                SVG.box(x: x, y: 3, width: 12, height: 10, style: "ours", opacity: Self.opacity(index)),
                SVG.text(name, x: x + 18, y: 12, style: "axis"),
            ]
        }
    }

    private static func opacity(_ index: Int) -> Double { max(0.3, 1 - Double(index) * 0.23) }
}

/// Distributions, one below the other, on a logarithmic axis.
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

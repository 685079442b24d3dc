internal import Foundation

/// Costs against sizes, as lines on two logarithmic axes.
///
/// A cost that does not grow with the size is a level line. A cost that is proportional to the size climbs as steeply as the
/// diagonal of the grid.
struct GrowthChart {
    let title: String
    /// The name of the things that the sizes count, in the plural.
    let size: String
    let lines: [Chart.Line]

    private static let top = 12.0
    private static let leastDecadeHeight = 52.0
    /// The minimum distance between two names.
    private static let nameHeight = 16.0

    /// The drawing.
    var svg: String {
        let points = lines.flatMap(\.points).filter { $0.cost.median > 0 && $0.size > 0 }
        let costs = points.flatMap { [max($0.cost.lowerQuartile, 1), $0.cost.upperQuartile] }
        guard let least = costs.min(), let most = costs.max() else { return "" }
        let sizes = points.map { log10(Double($0.size)) }
        let (firstSize, lastSize) = (sizes.min() ?? 0, max(sizes.max() ?? 1, (sizes.min() ?? 0) + 1))
        let firstDecade = log10(least).rounded(.down)
        let lastDecade = max(log10(most).rounded(.up), firstDecade + 1)
        // High enough for the names at the ends of the lines.
        let decadeHeight = max(
            Self.leastDecadeHeight, (Double(lines.count) + 1) * Self.nameHeight / (lastDecade - firstDecade))
        let bottom = Self.top + (lastDecade - firstDecade) * decadeHeight
        func x(_ size: Int) -> Double {
            let share = (log10(Double(size)) - firstSize) / (lastSize - firstSize)
            return SVG.plotStart + 20 + share * (SVG.plotEnd - SVG.plotStart - 40)
        }
        func y(_ cost: Double) -> Double {
            bottom - (max(log10(max(cost, 1)), firstDecade) - firstDecade) * decadeHeight
        }
        var parts: [String] = []
        for decade in Int(firstDecade)...Int(lastDecade) {
            let height = y(pow(10, Double(decade)))
            parts.append(SVG.line(x1: SVG.plotStart, y1: height, x2: SVG.plotEnd, y2: height, style: "grid"))
            parts.append(
                SVG.text(
                    NumberFormat.time(ofDecade: decade), x: SVG.plotStart - 12, y: height + 4, anchor: "end",
                    style: "axis"))
        }
        for size in Set(points.map(\.size)).sorted() {
            parts.append(SVG.line(x1: x(size), y1: Self.top, x2: x(size), y2: bottom, style: "grid"))
            parts.append(
                SVG.text(
                    NumberFormat.grouped(size), x: x(size), y: bottom + 18, anchor: "middle", style: "axis"))
        }
        parts.append(SVG.text(size, x: SVG.plotEnd + 12, y: bottom + 18, style: "axis"))
        for line in lines { parts += drawn(line, x: x, y: y) }
        parts += names(above: bottom, y: y)
        return SVG.chart(title: title, height: bottom + 26, parts)
    }

    private func drawn(_ line: Chart.Line, x: (Int) -> Double, y: (Double) -> Double) -> [String] {
        let style = "line " + line.role.rawValue
        let points = line.points.map { (x: x($0.size), y: y($0.cost.median), cost: $0.cost) }
        let pieces = zip(points, points.dropFirst()).map { left, right in
            SVG.line(x1: left.x, y1: left.y, x2: right.x, y2: right.y, style: style)
        }
        let marks = points.flatMap { point in
            [
                SVG.box(x: point.x - 3, y: point.y - 3, width: 6, height: 6, style: line.role.rawValue),
                SVG.line(
                    x1: point.x, y1: y(point.cost.lowerQuartile), x2: point.x,
                    y2: y(point.cost.upperQuartile), style: "tick"),
            ]
        }
        return pieces + marks
    }

    /// The name of each line, at the height of the line's end, or as close as the other names allow.
    private func names(above bottom: Double, y: (Double) -> Double) -> [String] {
        var ends = lines.compactMap { line in
            line.points.last.map { (name: line.name, height: y($0.cost.median)) }
        }
        .sorted { $0.height < $1.height }
        for index in ends.indices.dropFirst() {
            ends[index].height = max(ends[index].height, ends[index - 1].height + Self.nameHeight)
        }
        var lowest = bottom - Self.nameHeight / 2
        for index in ends.indices.reversed() {
            ends[index].height = min(ends[index].height, lowest)
            lowest = ends[index].height - Self.nameHeight
        }
        return ends.map { SVG.text($0.name, x: SVG.plotEnd - 8, y: $0.height + 4, style: "axis") }
    }
}

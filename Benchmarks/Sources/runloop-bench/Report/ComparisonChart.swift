internal import Foundation

/// The comparisons with other loops as a standalone picture: an SVG file with its own styles.
///
/// A bar shows the time of a peer as a multiple of this package's time. The dashed line at 1 is this package.
struct ComparisonChart {
    private let groups: [(title: String, comparisons: [Comparison])]
    private let caption: [String]

    private static let width = 820.0
    /// The names end to the left of the bars, and the figures begin to the right of the bars.
    private static let (left, right) = (250.0, 700.0)
    private static let rowHeight = 24.0
    private static let barHeight = 13.0
    private static let firstGroup = 90.0

    /// Takes the comparisons from a report, or returns `nil` if the report has none.
    init?(_ report: Report) {
        var titles: [String] = []
        let comparisons = report.chapters.flatMap(\.comparisons)
        for comparison in comparisons where !titles.contains(comparison.title) {
            titles.append(comparison.title)
        }
        if titles.isEmpty { return nil }
        groups = titles.map { title in (title, comparisons.filter { $0.title == title }) }
        let usesDispatch = comparisons.contains { $0.peer.contains("†") }
        caption =
            [
                "The dashed line is RunLoops. Bars are medians of \(comparisons.map(\.rounds).min() ?? 0) rounds, "
                    + "thin lines span half of the rounds.",
                "Measured by runloop-bench on \(report.machine.summary), \(report.machine.date)",
            ]
            + (usesDispatch
                ? ["† Dispatch chooses its threads. Half of its wake-up is a semaphore, the cheaper half."]
                : [])
    }

    /// The whole file.
    var text: String {
        let most = groups.flatMap(\.comparisons).map(\.ratio.upperQuartile).max() ?? 1
        let step = SVG.roundStep(most / 5)
        let end = (most / step).rounded(.up) * step
        func x(_ ratio: Double) -> Double { Self.left + ratio / end * (Self.right - Self.left) }

        let ticks = Array(stride(from: 0, through: end, by: step))
        var parts: [String] = []
        var y = Self.firstGroup
        for (title, comparisons) in groups {
            parts.append(SVG.text(title, x: 24, y: y, style: "group"))
            let top = y + 12
            let bottom = top + Double(comparisons.count) * Self.rowHeight
            for tick in ticks where tick > 0 {
                parts.append(SVG.line(x1: x(tick), y1: top, x2: x(tick), y2: bottom, style: "grid"))
            }
            for (index, comparison) in comparisons.enumerated() {
                parts += bar(comparison, y: top + Double(index) * Self.rowHeight + 6, x: x)
            }
            parts.append(SVG.line(x1: x(1), y1: top, x2: x(1), y2: bottom, style: "level"))
            y = bottom + 34
        }
        let bottom = y - 34
        let labels = ticks.map { tick in
            SVG.text(
                NumberFormat.bound.text(tick), x: x(tick), y: bottom + 16, anchor: "middle", style: "soft")
        }
        let captions = caption.enumerated().map { index, line in
            SVG.text(line, x: 24, y: bottom + 50 + Double(index) * 18, style: "soft")
        }
        let height = bottom + 50 + Double(caption.count) * 18
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" \
            width="\(Int(Self.width))" height="\(Int(height))" role="img" aria-labelledby="title desc">
            <title id="title">RunLoops beside Foundation, Dispatch and SwiftNIO</title>
            <desc id="desc">\(SVG.escaped(description))</desc>
            <style>
            \(Self.style)
            </style>
            <text x="24" y="32" class="title">RunLoops beside Foundation, Dispatch and SwiftNIO</text>
            <text x="24" y="54" class="soft">The time that others take, as a multiple of the time that RunLoops takes</text>
            \((parts + labels + captions).joined(separator: "\n"))
            </svg>

            """
    }

    private func bar(_ comparison: Comparison, y: Double, x: (Double) -> Double) -> [String] {
        let (ratio, middle) = (comparison.ratio, y + Self.barHeight / 2)
        return [
            SVG.text(comparison.peer, x: Self.left - 12, y: middle + 5, anchor: "end"),
            SVG.box(
                x: Self.left, y: y, width: x(ratio.median) - Self.left, height: Self.barHeight, style: "peer"),
            SVG.line(
                x1: x(ratio.lowerQuartile), y1: middle, x2: x(ratio.upperQuartile), y2: middle,
                style: "spread"),
            SVG.text(
                "× \(NumberFormat.ratio.text(ratio.median))",
                x: x(max(ratio.median, ratio.upperQuartile)) + 10,
                y: middle + 5, style: "value"),
        ]
    }

    /// The picture in words, for readers who cannot see it.
    private var description: String {
        groups.map { title, comparisons in
            "\(title): "
                + comparisons.map { "\($0.peer) × \(NumberFormat.ratio.text($0.ratio.median))" }
                .joined(separator: ", ")
        }.joined(separator: ". ") + "."
    }

    // Without variables, which several viewers draw black.
    private static let style = """
        text { font: 14px "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2328 }
        .title { font-size: 17px; font-weight: 600 }
        .group { font-weight: 600 }
        .value { font-weight: 600 }
        .soft { font-size: 12px; fill: #57606a }
        .grid { stroke: #d0d7de }
        .peer { fill: #54a3f5 }
        .spread { stroke: #1f2328; stroke-width: 1.5 }
        .level { stroke: #bc4c00; stroke-width: 2; stroke-dasharray: 5 4 }
        @media (prefers-color-scheme: dark) {
          text { fill: #e6edf3 }
          .soft { fill: #9198a1 }
          .grid { stroke: #3d444d }
          .peer { fill: #316dca }
          .spread { stroke: #e6edf3 }
          .level { stroke: #f0883e }
        }
        """
}

internal import Foundation

/// The elements of charts.
///
/// Their colours come from the styles of the page or the file, which follow light and dark mode.
enum SVG {
    /// The width of every chart of the page, in SVG units, which the page scales.
    static let width = 920.0
    /// The left edge of the plot, to the left of which the names end.
    static let plotStart = 290.0
    /// The right edge of the plot, to the right of which the figures begin.
    static let plotEnd = 765.0

    /// A whole chart.
    static func chart(title: String, height: Double, _ parts: [String]) -> String {
        """
        <svg viewBox="0 0 \(number(width)) \(number(height))" role="img" aria-label="\(escaped(title))">
        \(parts.joined(separator: "\n"))
        </svg>
        """
    }

    /// A line of text whose baseline begins at, ends at or is centred on a point, depending on `anchor`.
    static func text(
        _ text: String, x: Double, y: Double, anchor: String = "start", style: String = ""
    ) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\" class=\"\(style)\">"
            + "\(escaped(text))</text>"
    }

    /// A straight line.
    static func line(x1: Double, y1: Double, x2: Double, y2: Double, style: String) -> String {
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" class=\"\(style)\"/>"
    }

    /// A filled box.
    static func box(
        x: Double, y: Double, width: Double, height: Double, style: String, opacity: Double = 1
    ) -> String {
        "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(max(width, 0.5)))\" "
            + "height=\"\(number(height))\" class=\"\(style)\" fill-opacity=\"\(number(opacity))\"/>"
    }

    /// A filled shape.
    static func shape(_ points: [(x: Double, y: Double)], style: String) -> String {
        let list = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
        return "<polygon points=\"\(list)\" class=\"\(style)\"/>"
    }

    /// The text with the special characters of HTML escaped.
    static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }

    /// The distance between grid lines: 1, 2 or 5 times a power of ten, and at least `value`.
    static func roundStep(_ value: Double) -> Double {
        let power = pow(10, log10(value).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= value } ?? 10 * power
    }

    private static func number(_ value: Double) -> String { String(format: "%.4g", value) }
}

internal import Foundation

/// The elements that charts consist of.
///
/// Their colours come from the styles of the page or the file, so that they follow light and dark.
enum SVG {
    /// The width of every chart of the page, in its own units; the page scales it.
    static let width = 920.0
    /// The left edge of the plot; names end left of it.
    static let plotStart = 290.0
    /// The right edge of the plot; figures begin right of it.
    static let plotEnd = 765.0

    /// A whole chart.
    static func chart(title: String, height: Double, _ parts: [String]) -> String {
        """
        <svg viewBox="0 0 \(number(width)) \(number(height))" role="img" aria-label="\(escaped(title))">
        \(parts.joined(separator: "\n"))
        </svg>
        """
    }

    /// A line of text whose baseline begins at a point, or ends or is centred there, depending on `anchor`.
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

    /// The text with all characters escaped that HTML gives a meaning to.
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

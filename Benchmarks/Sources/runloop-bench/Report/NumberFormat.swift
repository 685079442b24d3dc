internal import Foundation

/// The unit and the number of digits of a figure.
enum NumberFormat: String, Codable {
    /// Nanoseconds, written as microseconds.
    case microseconds
    /// Nanoseconds, written as nanoseconds.
    case nanoseconds
    /// A ratio of two figures.
    case ratio
    /// A rate, written in millions.
    case millions
    /// A small count for each message, pass or hop.
    case perMessage
    /// The bound of a target, written as short as possible.
    case bound
    /// A whole number.
    case whole
    /// A share of one.
    case percent

    /// The text of a figure, or a dash for `nil`.
    func text(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "–" }
        switch self {
        case .microseconds: return Self.digits(value / 1000)
        case .nanoseconds, .ratio: return Self.digits(value)
        case .millions: return Self.digits(value / 1e6)
        case .perMessage:
            return value == 0 ? "0" : String(format: abs(value) < 0.001 ? "%.6f" : "%.4f", value)
        case .bound: return String(format: "%g", value)
        case .whole: return String(format: "%.0f", value)
        case .percent: return String(format: "%.1f %%", value * 100)
        }
    }

    /// A power of ten nanoseconds, in the largest unit that fits.
    static func time(ofDecade decade: Int) -> String {
        let units = ["ns", "µs", "ms", "s"]
        let unit = min(max(decade / 3, 0), units.count - 1)
        return String(format: "%g ", pow(10, Double(decade - 3 * unit))) + units[unit]
    }

    /// A size, with a comma before the last three of five or more digits.
    static func grouped(_ number: Int) -> String {
        let digits = String(number)
        return digits.count > 4 ? digits.dropLast(3) + "," + digits.suffix(3) : digits
    }

    /// A number with three significant digits.
    private static func digits(_ value: Double) -> String {
        switch abs(value) {
        case ..<0.1: String(format: "%.4f", value)
        case ..<10: String(format: "%.2f", value)
        case ..<100: String(format: "%.1f", value)
        default: String(format: "%.0f", value)
        }
    }
}

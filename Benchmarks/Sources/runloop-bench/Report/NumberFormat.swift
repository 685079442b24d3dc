internal import Foundation

/// How a figure is written.
enum NumberFormat: String, Codable {
    /// Nanoseconds, written as microseconds.
    case microseconds
    /// Nanoseconds, written as such.
    case nanoseconds
    /// A quotient.
    case ratio
    /// A rate, written in millions.
    case millions
    /// How often something happens for each of something else; few are expected.
    case perMessage
    /// A bound of a target: as short as it goes.
    case bound
    /// A whole number.
    case whole
    /// A share of one.
    case percent

    /// The figure's text; a dash for none.
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

    /// So many powers of ten nanoseconds, in the unit that one would say.
    static func time(ofDecade decade: Int) -> String {
        let units = ["ns", "µs", "ms", "s"]
        let unit = min(max(decade / 3, 0), units.count - 1)
        return String(format: "%g ", pow(10, Double(decade - 3 * unit))) + units[unit]
    }

    /// A size, with its thousands apart where it is long.
    static func grouped(_ number: Int) -> String {
        let digits = String(number)
        return digits.count > 4 ? digits.dropLast(3) + "," + digits.suffix(3) : digits
    }

    /// Three digits that mean something.
    private static func digits(_ value: Double) -> String {
        switch abs(value) {
        case ..<0.1: String(format: "%.4f", value)
        case ..<10: String(format: "%.2f", value)
        case ..<100: String(format: "%.1f", value)
        default: String(format: "%.0f", value)
        }
    }
}

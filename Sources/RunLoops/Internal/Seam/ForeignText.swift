/// A text that another process has chosen.
///
/// A terminal obeys control characters, a reader of a log trusts its lines, and formatting characters show letters in another
/// order. So the text can only be had with these characters replaced: every way out of this type, interpolation included, is
/// ``description``. Keep a text from outside in this type, and no place that prints it can forget the replacement.
///
/// A pure value.
package struct ForeignText: Hashable, Sendable {
    /// The text, which contains no character that needs replacement.
    package let description: String

    /// Takes a text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - most: The maximum number of Unicode scalars that are kept of it.
    package init(_ text: some StringProtocol, atMost most: Int = 1_000) {
        self.init(scalars: text.unicodeScalars, most)
    }

    /// Takes the bytes of a text in UTF-8.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; invalid ones become U+FFFD.
    ///   - most: The maximum number of Unicode scalars that are kept of the text.
    package init(utf8 bytes: some Collection<UInt8>, atMost most: Int = 1_000) {
        // A scalar has at most four bytes.
        let (limit, overflows) = most.multipliedReportingOverflow(by: 4)
        self.init(
            scalars: String(decoding: bytes.prefix(overflows ? .max : limit), as: UTF8.self).unicodeScalars,
            most)
    }

    private init(scalars: some Sequence<Unicode.Scalar>, _ most: Int) {
        var text = ""
        var left = most
        for scalar in scalars {
            if left == 0 {
                text += "…"
                break
            }
            left -= 1
            if ForeignText.isHarmless(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                text += ForeignText.replacement(of: scalar)
            }
        }
        description = text
    }

    /// Returns false if a terminal, a log or a reader can take a scalar for something else than text.
    ///
    /// These are control characters, separators of lines, and the invisible characters of formatting, for example those that change
    /// the direction of text.
    package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7f { return scalar.value >= 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }

    /// Returns the text that stands for a scalar in a string of JSON, as in `\u001b`.
    package static func jsonEscape(of scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map { units in
            units.reduce(into: "") { text, unit in
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        } ?? ""
    }

    /// Returns the text that stands for a scalar, as in `\u{1b}`.
    package static func replacement(of scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16))}"
    }
}

extension ForeignText: CustomStringConvertible {}
extension ForeignText: CustomDebugStringConvertible {
    package var debugDescription: String { description }
}

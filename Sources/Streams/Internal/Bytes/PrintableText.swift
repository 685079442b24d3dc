/// Text of a peer or of a caller, as it may stand in a line of a log or on a terminal.
///
/// Control characters, and those that end lines or change the direction of text, are written as `\u{1b}`.
struct PrintableText: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        var description = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                description += "\\u{\(String(scalar.value, radix: 16))}"
            default: description.unicodeScalars.append(scalar)
            }
        }
        self.description = description
    }
}

/// The characters that are allowed in the parts of a message, so that no part is mistaken for another.
package enum MessageRules {
    /// True if a text may be a method or the name of a field.
    package static func isToken(_ text: String) -> Bool {
        // Contiguous memory is checked five times as fast as the UTF-8 view.
        var text = text
        // Safe: the bytes are only read during the call.
        return !text.isEmpty && text.withUTF8 { unsafe $0.allSatisfy(isTokenCharacter) }
    }

    /// True if a text may be the value of a field: it contains no NUL and no line break.
    package static func isFieldValue(_ text: String) -> Bool {
        var text = text
        // Safe: the bytes are only read during the call.
        return text.withUTF8 { unsafe !$0.contains { $0 == 0 || $0 == 0x0a || $0 == 0x0d } }
    }

    private static func isTokenCharacter(_ letter: UInt8) -> Bool {
        switch letter {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+.^_`|~".utf8.contains(letter)
        }
    }
}

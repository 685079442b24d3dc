/// The characters that are allowed in each part of a message, so that no part is mistaken for another part.
enum MessageRules {
    /// True if UTF-8 bytes may be used as a method or as the name of a field.
    static func isToken(_ letters: Span<UInt8>) -> Bool {
        var index = 0
        while index < letters.count {
            // Safe: the index is in the span.
            if !isTokenCharacter(unsafe letters[unchecked: index]) { return false }
            index &+= 1
        }
        return index > 0
    }

    /// True if a text may be used as the value of a field: it contains no NUL and no line break.
    static func isFieldValue(_ text: String) -> Bool { isFieldValue(text.utf8.span) }

    /// True if UTF-8 bytes may be used as the value of a field: they contain no NUL and no line break.
    static func isFieldValue(_ letters: Span<UInt8>) -> Bool {
        letters.indices.allSatisfy {
            // Safe: the indices are those of the span.
            let letter = unsafe letters[unchecked: $0]
            return letter > 0x0d || letter != 0 && letter != 0x0a && letter != 0x0d
        }
    }

    @inline(__always)
    private static func isTokenCharacter(_ letter: UInt8) -> Bool {
        // Most characters of a name are letters, so they are tested first.
        if (letter | 0x20) &- UInt8(ascii: "a") < 26 { return true }
        // A set with one bit for each ASCII character. It contains letters, digits, and !#$%&'*+-.^_`|~
        let set: UInt64 = letter < 64 ? 0x03ff_6cfa_0000_0000 : letter < 128 ? 0x57ff_ffff_c7ff_fffe : 0
        return set >> UInt64(letter & 63) & 1 == 1
    }

    static func lowercase(_ letter: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) ? letter | 0x20 : letter
    }
}

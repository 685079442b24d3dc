/// The characters that are allowed in the parts of a message, so that no part is mistaken for another.
package enum MessageRules {
    /// True if a text may be a method or the name of a field.
    package static func isToken(_ text: String) -> Bool {
        // Reading through a span does not change the reference count of the text; copying the text would.
        let letters = text.utf8.span
        return !letters.isEmpty && letters.indices.allSatisfy { isTokenCharacter(letters[$0]) }
    }

    /// True if a text may be the value of a field: it contains no NUL and no line break.
    package static func isFieldValue(_ text: String) -> Bool {
        let letters = text.utf8.span
        return letters.indices.allSatisfy { letters[$0] != 0 && letters[$0] != 0x0a && letters[$0] != 0x0d }
    }

    private static func isTokenCharacter(_ letter: UInt8) -> Bool {
        // One bit for each character of ASCII: letters, digits, and !#$%&'*+-.^_`|~
        let set: UInt64 = letter < 64 ? 0x03ff_6cfa_0000_0000 : letter < 128 ? 0x57ff_ffff_c7ff_fffe : 0
        return set >> UInt64(letter & 63) & 1 == 1
    }
}

#if HTTPServers
    /// A check that bytes are UTF-8, which may come in pieces that are cut anywhere, also inside a character.
    struct TextCheck {
        /// The number of bytes that the character under way still needs.
        private var missing = 0
        /// The values that its next byte may have.
        ///
        /// They exclude overlong forms, surrogates and numbers above U+10FFFF.
        private var allowed: ClosedRange<UInt8> = TextCheck.continuation

        private static var continuation: ClosedRange<UInt8> { 0x80...0xbf }

        /// True if the bytes so far end at the end of a character.
        var isComplete: Bool { missing == 0 }

        /// Takes the next bytes.
        ///
        /// - Returns: False if no text contains these bytes, whatever follows them.
        mutating func accepts(_ bytes: some Sequence<UInt8>) -> Bool {
            for byte in bytes where !accepts(byte) { return false }
            return true
        }

        private mutating func accepts(_ byte: UInt8) -> Bool {
            if missing > 0 {
                guard allowed.contains(byte) else { return false }
                missing -= 1
                allowed = TextCheck.continuation
                return true
            }
            switch byte {
            case ..<0x80: return true
            case 0xc2...0xdf: missing = 1
            case 0xe0: (missing, allowed) = (2, 0xa0...0xbf)
            case 0xed: (missing, allowed) = (2, 0x80...0x9f)
            case 0xe1...0xef: missing = 2
            case 0xf0: (missing, allowed) = (3, 0x90...0xbf)
            case 0xf1...0xf3: missing = 3
            case 0xf4: (missing, allowed) = (3, 0x80...0x8f)
            default: return false
            }
            return true
        }
    }
#endif

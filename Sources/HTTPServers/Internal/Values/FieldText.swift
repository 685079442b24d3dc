#if HTTPServers
    /// The text of fields: white space, words, and lists, as RFC 9110 defines them.
    ///
    /// Everything works on UTF-8 bytes, because a `Character` may consist of a letter and marks that follow it.
    enum FieldText {
        /// Returns a value without the spaces and tabs around it.
        static func trimmed(_ text: Substring) -> Substring {
            let letters = text.utf8
            guard let start = letters.firstIndex(where: { !isBlank($0) }),
                let end = letters.lastIndex(where: { !isBlank($0) })
            else { return "" }
            return text[start...end]
        }

        static func trimmed(_ text: String) -> String {
            guard let first = text.utf8.first, let last = text.utf8.last, isBlank(first) || isBlank(last)
            else {
                return text
            }
            return String(trimmed(text[...]))
        }

        private static func isBlank(_ letter: UInt8) -> Bool {
            letter == UInt8(ascii: " ") || letter == UInt8(ascii: "\t")
        }

        /// True if two texts are equal, whatever the case of their ASCII letters is.
        static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
            one.count == other.count && zip(one, other).allSatisfy { lower($0) == lower($1) }
        }

        static func areEqual(_ one: String, _ other: String) -> Bool { areEqual(one.utf8, other.utf8) }

        private static func lower(_ letter: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) ? letter | 0x20 : letter
        }

        /// True if the elements of a list, which commas separate, contain a word, whatever its case is.
        static func lists(_ value: String, _ word: String) -> Bool {
            value.utf8.split(separator: UInt8(ascii: ",")).contains {
                areEqual(trimmed(Substring($0)).utf8, word.utf8)
            }
        }

        /// True if a text may be used as a method, or as the name of a field or a protocol.
        static func isToken(_ text: some StringProtocol) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy(isTokenLetter)
        }

        private static func isTokenLetter(_ letter: UInt8) -> Bool {
            // Most characters of a name are letters, so they are tested first.
            if (letter | 0x20) &- UInt8(ascii: "a") < 26 { return true }
            // A set with one bit for each ASCII character. It contains letters, digits, and !#$%&'*+-.^_`|~
            let set: UInt64 =
                letter < 64 ? 0x03ff_6cfa_0000_0000 : letter < 128 ? 0x57ff_ffff_c7ff_fffe : 0
            return set >> UInt64(letter & 63) & 1 == 1
        }

        /// True if a text can be the host and port of a request.
        ///
        /// The host is a name or a numeric address, and the port, if there is one, is a number that ports can have. Names with other
        /// characters than those of the DNS, `_`, `~` and percent escapes are refused, because proxies read them in several ways.
        static func isHost(_ text: some StringProtocol) -> Bool {
            var rest = text.utf8[...]
            if rest.first == UInt8(ascii: "[") {
                guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
                let address = rest[..<end].dropFirst()
                if address.isEmpty || !address.allSatisfy({ isHostLetter($0) || $0 == UInt8(ascii: ":") }) {
                    return false
                }
                rest = rest[rest.index(after: end)...]
            } else {
                let name = rest.prefix(while: isHostLetter)
                if name.isEmpty { return false }
                rest = rest[name.endIndex...]
            }
            guard let colon = rest.first else { return true }
            let port = rest.dropFirst()
            guard colon == UInt8(ascii: ":"), port.allSatisfy(isDigit) else { return false }
            return port.isEmpty || UInt16(String(decoding: port, as: UTF8.self)) != nil
        }

        private static func isDigit(_ letter: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(letter)
        }

        private static func isHostLetter(_ letter: UInt8) -> Bool {
            if (letter | 0x20) &- UInt8(ascii: "a") < 26 || isDigit(letter) { return true }
            return switch letter {
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
                UInt8(ascii: "%"):
                true
            default: false
            }
        }
    }
#endif

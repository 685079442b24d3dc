#if HTTPServers
    /// Finds the blank lines in the bytes of a connection, also if they are cut into pieces.
    ///
    /// Each header ends with a blank line, and so does each body in chunks. So a piece that ends with the first blank line contains
    /// the end of at most one message, whatever the client has sent behind it.
    struct BlankLineFinder {
        /// The number of bytes of CR LF CR LF that the previous bytes ended with.
        private var matched = 0
        /// True once a line feed was found.
        private(set) var hasPassedLine = false
        /// The first byte of the last word of the first line with two words, which in a request is the name of the protocol.
        private(set) var lastWord: UInt8 = 0
        private var isBehindSpace = false
        private var hasLastWord = false

        /// Returns the number of bytes through the end of the first blank line; nil if there is none.
        mutating func end(in bytes: RawSpan) -> Int? {
            for index in 0..<bytes.byteCount {
                // Safe: every byte is a valid number.
                let letter = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
                if !hasLastWord { addWord(letter) }
                switch letter {
                case UInt8(ascii: "\r"): matched = matched == 2 ? 3 : 1
                case UInt8(ascii: "\n"):
                    hasPassedLine = true
                    if matched == 3 {
                        matched = 0
                        return index + 1
                    }
                    matched = matched == 1 ? 2 : 0
                default: matched = 0
                }
            }
            return nil
        }

        /// Looks for words, of which the empty lines before a request have none.
        private mutating func addWord(_ letter: UInt8) {
            if isBehindSpace { lastWord = letter }
            isBehindSpace = letter == UInt8(ascii: " ")
            hasLastWord = letter == UInt8(ascii: "\n") && lastWord != 0
        }

        /// Forgets what came before, because a header or a body begins.
        ///
        /// In a body, no words are looked for.
        mutating func begin(isHeader: Bool) {
            self = BlankLineFinder()
            hasLastWord = !isHeader
        }
    }
#endif

/// The encoded words of a Redis command, or of a part of one.
///
/// A pure value. One buffer holds all words.
struct RedisWords {
    private(set) var encoded: [UInt8] = []
    private(set) var count = 0

    init(_ words: String...) { for word in words { append(word.utf8) } }

    /// Adds a word, which can contain any bytes.
    mutating func append(_ word: some Collection<UInt8>) {
        line("$", word.count)
        encoded += word
        encoded += [13, 10]
        count += 1
    }

    mutating func append(_ words: RedisWords) {
        encoded += words.encoded
        count += words.count
    }

    private mutating func line(_ mark: Unicode.Scalar, _ number: Int) {
        encoded.append(UInt8(ascii: mark))
        encoded += String(number).utf8
        encoded += [13, 10]
    }

    /// The bytes of a whole command: the number of words, and then these words.
    var command: [UInt8] {
        var header = RedisWords()
        header.encoded.reserveCapacity(encoded.count + 16)
        header.line("*", count)
        return header.encoded + encoded
    }
}

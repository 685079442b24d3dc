internal import DistributedNotifications

/// The ID of an entry of a stream: a time in milliseconds, and a number that tells entries of the same millisecond apart.
typealias EntryID = Position

extension EntryID {
    /// An ID that is lower than the ID of every entry.
    static let zero = EntryID(high: 0, low: 0)

    /// Reads an ID as the server writes it; nil if the text is not an ID.
    ///
    /// Each half can be any number of 64 bits. IDs are only compared, and nothing is added to them.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let high = EntryID.half(parts[0]), let low = EntryID.half(parts[1]) else {
            return nil
        }
        self.init(high: high, low: low)
    }

    private static func half(_ digits: Substring.UTF8View) -> UInt64? {
        digits.first == UInt8(ascii: "+") ? nil : UInt64(Substring(digits))
    }

    /// The ID as the server writes it.
    var text: String { "\(high)-\(low)" }
}

/// The text form of two numbers: the 32 hexadecimal digits that identify a poster or a generation on the server.
enum HexadecimalPair {
    static func text(_ high: UInt64, _ low: UInt64) -> String { digits(high) + digits(low) }

    private static func digits(_ word: UInt64) -> String {
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// Reads two numbers from 32 hexadecimal digits; nil if the text has another form.
    static func parse(_ text: String) -> (high: UInt64, low: UInt64)? {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        return (high, low)
    }
}

extension PosterID {
    var text: String { HexadecimalPair.text(high, low) }

    /// Reads an identity; nil if the text has another form, or is the identity of no poster.
    init?(_ text: String) {
        guard let (high, low) = HexadecimalPair.parse(text), (high, low) != (0, 0) else { return nil }
        self.init(high: high, low: low)
    }
}

extension Epoch {
    var text: String { HexadecimalPair.text(high, low) }

    init?(_ text: String) {
        guard let (high, low) = HexadecimalPair.parse(text) else { return nil }
        self.init(high: high, low: low)
    }

    static func random() -> Epoch {
        Epoch(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}

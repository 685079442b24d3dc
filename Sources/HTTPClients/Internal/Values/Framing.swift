/// What the header of an answer says about the length of the body.
///
/// libcurl reads these fields, too. It takes the beginning of a wrong value for the value, so only values that have one meaning are
/// accepted.
struct Framing: Hashable, Sendable {
    enum Field: Hashable {
        case contentLength
        case transferEncoding
        case other
    }

    /// The field of the last line that was added.
    var field = Field.other

    /// The value of `Content-Length`; nil if there is no such field.
    private(set) var length: Int?
    /// True if the body comes in chunks.
    private(set) var isChunked = false

    /// The number of digits that a length may have; more could exceed the numbers of libcurl.
    private static let digitLimit = 18

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - field: The kind of the field.
    ///   - value: The value of the field, without white space around it.
    /// - Returns: The reason that the header is invalid; nil if there is none.
    mutating func addField(_ field: Field, _ value: ArraySlice<UInt8>) -> String? {
        self.field = field
        switch field {
        case .contentLength:
            guard let number = Framing.number(value) else {
                return "Content-Length: \(String(decoding: value.prefix(40), as: UTF8.self).debugDescription)"
            }
            if let length, length != number { return "several lengths" }
            length = number
        case .transferEncoding:
            let isKnown = value.elementsEqual("chunked".utf8) { letter, expected in
                letter | (letter < 0x60 ? 0x20 : 0) == expected
            }
            if !isKnown || isChunked {
                return
                    "Transfer-Encoding: \(String(decoding: value.prefix(40), as: UTF8.self).debugDescription)"
            }
            isChunked = true
        case .other: break
        }
        return nil
    }

    /// Returns the reason that a complete header is invalid; nil if there is none.
    ///
    /// Whoever takes one of two contradicting fields for the right one can mistake a part of the body for the next answer.
    func problem(isVersion11: Bool) -> String? {
        if !isChunked { return nil }
        if length != nil { return "a length beside chunks" }
        return isVersion11 ? nil : "chunks in another version than HTTP/1.1"
    }

    /// Returns a number that is written in decimal digits only; nil if there is another character, no digit, or too many digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        if digits.isEmpty || digits.count > digitLimit { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

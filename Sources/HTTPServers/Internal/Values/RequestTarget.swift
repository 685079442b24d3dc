internal import HTTPMessages

/// The parsing of a request's target into a path, its segments, and a query.
enum RequestTarget {
    static func path(of target: String) -> Substring { target.prefix { $0 != "?" } }

    static func segments(of target: String) -> [String] {
        let path = path(of: target)
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return (path.hasPrefix("/") ? parts.dropFirst() : parts[...]).map { decoded($0, plusIsSpace: false) }
    }

    static func query(of target: String) -> HTTPFields {
        var fields = HTTPFields()
        guard let mark = target.firstIndex(of: "?") else { return fields }
        for part in target[target.index(after: mark)...].split(separator: "&") {
            let name = part.prefix { $0 != "=" }
            fields.append(
                decoded(name, plusIsSpace: true),
                decoded(part.dropFirst(name.count + 1), plusIsSpace: true))
        }
        return fields
    }

    /// Returns a text with its percent escapes decoded.
    ///
    /// A percent sign that is not followed by two hexadecimal digits is kept.
    static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
        if !text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) {
            return String(text)
        }
        var bytes: [UInt8] = []
        let letters = Array(text.utf8)
        var index = 0
        while index < letters.count {
            var letter = letters[index]
            index += 1
            if letter == UInt8(ascii: "+") && plusIsSpace {
                letter = UInt8(ascii: " ")
            } else if letter == UInt8(ascii: "%"), index + 1 < letters.count,
                let high = digit(letters[index]), let low = digit(letters[index + 1])
            {
                letter = high << 4 | low
                index += 2
            }
            bytes.append(letter)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): letter - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

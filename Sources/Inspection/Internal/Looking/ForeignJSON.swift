internal import RunLoops

/// A check of JSON text that another process has written, before it is decoded.
///
/// In the checked text, no string contains a character that a terminal, a log or a reader could take for something else: each is
/// replaced as ``ForeignText`` does it. So the texts of a decoded value are harmless, whichever members it has. The length, the
/// depth and the length of each string are limited, too.
///
/// A pure value.
struct ForeignJSON {
    /// The text is no JSON, or exceeds a limit.
    struct Violation: Error, Hashable, Sendable {
        let reason: String
    }

    /// The maximum number of bytes of a report.
    static let mostBytes = 16 << 20
    private static let mostDepth = 32
    /// The maximum number of Unicode scalars that are kept of a string.
    private static let longestString = 1_000

    private let bytes: [UInt8]
    private var position = 0
    private var checked: [UInt8] = []

    /// Checks a text.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - most: The maximum number of bytes.
    /// - Returns: The text with harmless strings. Whether it is JSON otherwise, the decoder says.
    /// - Throws: ``Violation`` if a string is none, or the text exceeds a limit.
    static func check(_ bytes: [UInt8], atMost most: Int = mostBytes) throws(Violation) -> [UInt8] {
        if bytes.count > most { throw Violation(reason: "it has \(bytes.count) bytes") }
        var json = ForeignJSON(bytes: bytes)
        json.checked.reserveCapacity(bytes.count)
        try json.check()
        return json.checked
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func check() throws(Violation) {
        var depth = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            checked.append(byte)
            switch byte {
            case UInt8(ascii: "\""): try checkString()
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > ForeignJSON.mostDepth { throw Violation(reason: "it is nested too deeply") }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
    }

    /// Checks the rest of a string, whose quotation mark was read.
    private mutating func checkString() throws(Violation) {
        var left = ForeignJSON.longestString
        while let scalar = try takeScalar() {
            if left == 0 { continue }
            left -= 1
            if left == 0 {
                checked += "…".utf8
            } else {
                append(scalar)
            }
        }
        checked.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": checked += "\\\"".utf8
        case "\\": checked += "\\\\".utf8
        case _ where ForeignText.isHarmless(scalar): checked += scalar.utf8
        default: checked += ("\\" + ForeignText.replacement(of: scalar)).utf8
        }
    }

    /// Takes the next scalar of a string, which can be written as an escape; nil if the string ends.
    private mutating func takeScalar() throws(Violation) -> Unicode.Scalar? {
        let byte = try takeByte()
        switch byte {
        case UInt8(ascii: "\""): return nil
        case UInt8(ascii: "\\"): return try takeEscape()
        case ..<0x80: return Unicode.Scalar(byte)
        default:
            // The decoder of a single scalar gets the at most four bytes that it can have.
            var rest = bytes[(position - 1)...].prefix(4).makeIterator()
            var decoder = UTF8()
            guard case .scalarValue(let scalar) = decoder.decode(&rest) else {
                throw Violation(reason: "a string is not UTF-8")
            }
            position += UTF8.width(scalar) - 1
            return scalar
        }
    }

    private mutating func takeEscape() throws(Violation) -> Unicode.Scalar {
        switch try takeByte() {
        case UInt8(ascii: "u"):
            let unit = try takeUnit()
            if let scalar = Unicode.Scalar(unit) { return scalar }
            guard UTF16.isLeadSurrogate(unit), try takeByte() == UInt8(ascii: "\\"),
                try takeByte() == UInt8(ascii: "u")
            else { throw noString }
            let trail = try takeUnit()
            guard UTF16.isTrailSurrogate(trail) else { throw noString }
            return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        default: throw noString
        }
    }

    private mutating func takeUnit() throws(Violation) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(try takeByte())).hexDigitValue else { throw noString }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    private mutating func takeByte() throws(Violation) -> UInt8 {
        guard position < bytes.count else { throw Violation(reason: "a string has no end") }
        defer { position += 1 }
        return bytes[position]
    }

    private var noString: Violation { Violation(reason: "a string has an escape that JSON does not have") }
}

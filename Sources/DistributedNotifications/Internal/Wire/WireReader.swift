/// A reader of a message from another process, which checks every length and number.
struct WireReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    private func require(_ count: Int) throws(Hub.Violation) {
        if count > bytes.count - position { throw Hub.Violation("a message is too short") }
    }

    mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(Hub.Violation) -> Number {
        let size = Number.bitWidth / 8
        try require(size)
        var number: Number = 0
        for index in 0..<size { number |= Number(truncatingIfNeeded: bytes[position + index]) << (8 * index) }
        position += size
        return number
    }

    /// Reads a number below 2⁶³, to which code may add without an overflow.
    mutating func count() throws(Hub.Violation) -> UInt64 {
        let number = try number(UInt64.self)
        if number > UInt64(Int64.max) { throw Hub.Violation("a number is beyond all counting") }
        return number
    }

    /// Reads entries up to the end of the message, which may have no more than a number of them.
    mutating func entries<Entry>(
        atMost most: Int, _ read: (inout WireReader) throws(Hub.Violation) -> Entry
    ) throws(Hub.Violation) -> [Entry] {
        var entries: [Entry] = []
        while !isAtEnd {
            if entries.count == most { throw Hub.Violation("a message has too many entries") }
            entries.append(try read(&self))
        }
        return entries
    }

    mutating func flag() throws(Hub.Violation) -> Bool {
        switch try number(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw Hub.Violation("a flag is neither 0 nor 1")
        }
    }

    mutating func poster() throws(Hub.Violation) -> PosterID {
        PosterID(high: try number(), low: try number())
    }

    mutating func text() throws(Hub.Violation) -> String {
        let count = Int(try number(UInt8.self))
        try require(count)
        guard let text = String(validating: bytes[position..<(position + count)], as: UTF8.self) else {
            throw Hub.Violation("a text is not UTF-8")
        }
        position += count
        return text
    }

    mutating func optionalText() throws(Hub.Violation) -> String? { try flag() ? try text() : nil }

    mutating func topic() throws(Hub.Violation) -> Topic {
        Topic(name: try text(), sender: try optionalText())
    }

    mutating func payload() throws(Hub.Violation) -> [UInt8] {
        let count = Int(try number(UInt32.self))
        try require(count)
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }
}

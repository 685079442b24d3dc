/// An error: bytes from another process do not follow the protocol.
package struct WireViolation: Error, Hashable, Sendable {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// A reader of bytes from another process, which checks every length and number.
package struct WireReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var isAtEnd: Bool { position == bytes.count }

    private func require(_ count: Int) throws(WireViolation) {
        if count > bytes.count - position { throw WireViolation("a message is too short") }
    }

    package mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self
    ) throws(WireViolation) -> Number {
        let size = Number.bitWidth / 8
        try require(size)
        defer { position += size }
        // Safe: `require` has checked that the bytes exist, and every pattern of bits is a valid number.
        return unsafe bytes.withUnsafeBytes {
            Number(littleEndian: unsafe $0.loadUnaligned(fromByteOffset: position, as: Number.self))
        }
    }

    /// Reads a number below 2⁶³, so that additions to it do not overflow; see ``OutsideNumber``.
    mutating func count() throws(WireViolation) -> UInt64 {
        guard let number = OutsideNumber(try number(UInt64.self)) else {
            throw WireViolation("a number is beyond all counting")
        }
        return number.value
    }

    mutating func flag() throws(WireViolation) -> Bool {
        switch try number(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw WireViolation("a flag is neither 0 nor 1")
        }
    }

    mutating func poster() throws(WireViolation) -> PosterID {
        PosterID(high: try number(), low: try number())
    }

    mutating func text() throws(WireViolation) -> String {
        let count = Int(try number(UInt8.self))
        try require(count)
        guard let text = String(validating: bytes[position..<(position + count)], as: UTF8.self) else {
            throw WireViolation("a text is not UTF-8")
        }
        position += count
        return text
    }

    mutating func optionalText() throws(WireViolation) -> String? { try flag() ? try text() : nil }

    mutating func topic() throws(WireViolation) -> Topic {
        Topic(name: try text(), sender: try optionalText())
    }

    mutating func payload() throws(WireViolation) -> [UInt8] {
        let count = Int(try number(UInt32.self))
        try require(count)
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }
}

/// Removes the framing from a body that comes in chunks.
///
/// libcurl reads the same framing to find the end of the body, and tolerates sizes such as `5x`, and extensions without end. Here
/// each line has a limit, and so has the framing altogether: 16 KiB, and for each chunk 16 bytes and twice the chunk's size. So a
/// server cannot keep a client busy with framing.
struct ChunkScanner {
    private enum Place {
        /// In the digits of a chunk's size.
        case size(value: Int, digits: Int)
        /// In white space after the size.
        case padding(value: Int)
        /// In an extension, which is ignored.
        case `extension`(value: Int)
        /// After the carriage return that ends the line of a size.
        case sizeEnd(value: Int)
        /// In the bytes of a chunk.
        case bytes(left: Int)
        /// Before the carriage return, and before the line feed, that follow the bytes of a chunk.
        case bytesEnd
        case bytesLineFeed
        /// In the lines after the last chunk. The line is empty if it has no byte yet.
        case trailer(isEmpty: Bool)
        case trailerEnd(isEmpty: Bool)
        /// The body is complete. What follows is ignored; libcurl closes the connection.
        case end
    }

    private var place = Place.size(value: 0, digits: 0)
    /// The number of bytes of framing beyond what the chunks allow.
    private var excess = 0

    /// The number of chunks that have begun.
    private(set) var chunkCount = 0

    private static let excessLimit = 16 << 10
    /// The number of hexadecimal digits of a size; more could exceed an integer.
    private static let digitLimit = 15

    /// True if the body is complete.
    var isComplete: Bool { if case .end = place { true } else { false } }

    /// Scans the next bytes of a body.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, with the framing.
    ///   - take: Called with the ranges of the bytes that are not framing, in order.
    /// - Returns: The reason that the framing is invalid; nil if there is none.
    mutating func scan(_ bytes: Span<UInt8>, _ take: (Range<Int>) -> Void) -> String? {
        var index = 0
        while index < bytes.count {
            if case .bytes(let left) = place {
                let count = min(left, bytes.count - index)
                take(index..<(index + count))
                index += count
                place = count == left ? .bytesEnd : .bytes(left: left - count)
                continue
            }
            if case .end = place { return nil }
            excess += 1
            if excess > ChunkScanner.excessLimit { return "chunks with more framing than bytes" }
            if let problem = scan(bytes[index]) { return problem }
            index += 1
        }
        return nil
    }

    /// Scans a byte of the framing.
    private mutating func scan(_ letter: UInt8) -> String? {
        switch (place, letter) {
        case (.size(let value, let digits), _):
            if let digit = ChunkScanner.digit(letter) {
                if digits == ChunkScanner.digitLimit { return "a chunk of a size that is too large" }
                place = .size(value: value << 4 | digit, digits: digits + 1)
                return nil
            }
            if digits == 0 { return "a chunk without a size" }
            switch letter {
            case UInt8(ascii: "\r"): place = .sizeEnd(value: value)
            case UInt8(ascii: ";"): place = .extension(value: value)
            case UInt8(ascii: " "), UInt8(ascii: "\t"): place = .padding(value: value)
            default: return "a chunk with a size that is not a number"
            }
        case (.padding(let value), UInt8(ascii: "\r")): place = .sizeEnd(value: value)
        case (.padding(let value), UInt8(ascii: ";")): place = .extension(value: value)
        case (.padding, UInt8(ascii: " ")), (.padding, UInt8(ascii: "\t")): break
        case (.padding, _): return "a chunk with a size that is not a number"
        case (.extension(let value), UInt8(ascii: "\r")): place = .sizeEnd(value: value)
        case (.extension, UInt8(ascii: "\n")), (.extension, 0): return "a chunk with a bare line feed or NUL"
        case (.extension, _): break
        case (.sizeEnd(let value), UInt8(ascii: "\n")):
            chunkCount += 1
            // A large chunk pays for later framing, but not without a bound.
            if value > 0 { excess = max(0, excess - 16 - 2 * min(value, ChunkScanner.excessLimit)) }
            place = value == 0 ? .trailer(isEmpty: true) : .bytes(left: value)
        case (.bytesEnd, UInt8(ascii: "\r")): place = .bytesLineFeed
        case (.bytesLineFeed, UInt8(ascii: "\n")): place = .size(value: 0, digits: 0)
        case (.trailer(let isEmpty), UInt8(ascii: "\r")): place = .trailerEnd(isEmpty: isEmpty)
        case (.trailer, UInt8(ascii: "\n")), (.trailer, 0): return "a trailer with a bare line feed or NUL"
        case (.trailer, _): place = .trailer(isEmpty: false)
        case (.trailerEnd(let isEmpty), UInt8(ascii: "\n")): place = isEmpty ? .end : .trailer(isEmpty: true)
        case (.sizeEnd, _), (.trailerEnd, _): return "chunks with a bare carriage return"
        case (.bytesEnd, _), (.bytesLineFeed, _): return "a chunk that is longer than its size"
        case (.bytes, _), (.end, _): break
        }
        return nil
    }

    private static func digit(_ letter: UInt8) -> Int? {
        switch letter {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(letter - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(letter - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(letter - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

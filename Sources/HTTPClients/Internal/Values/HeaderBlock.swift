internal import HTTPMessages

/// The header of the answer that a transfer receives, line by line.
///
/// A transfer can receive several headers in a row: those of interim answers, those of redirects, and that of the last answer. Each
/// header begins with a status line, and replaces the previous header.
///
/// The lines are stored unchanged, and parsed only when a user asks for the fields.
struct HeaderBlock: Hashable, Sendable {
    /// The result of adding a line to the header.
    enum Finding: Equatable {
        /// More lines follow.
        case incomplete
        /// The line completes the header of an interim answer, or is part of a trailer.
        case notShown
        /// The line completes the header of an answer that is not interim.
        case complete
        /// The header is longer than the limit.
        case tooLong
        /// The header has no status, or two of its lines contradict each other.
        case invalid(String)
    }

    /// The maximum number of bytes of a header.
    let limit: Int

    private var bytes: [UInt8] = []
    /// The number of bytes that were added since ``add(_:)`` last returned ``Finding/complete``.
    ///
    /// The bytes of trailers and of the headers of interim answers are counted, too.
    private var count = 0
    /// True once the header of an answer is complete, so that further lines are trailers.
    private var isComplete = false

    private(set) var status = 0

    /// The value of the last `Content-Length` field, as a range in `bytes`; nil while the header has no such field.
    private var length: Range<Int>?
    /// True if the header has two different values of `Content-Length`.
    private var hasSeveralLengths = false

    /// Creates a header without lines.
    ///
    /// - Parameter limit: The maximum number of bytes of a header.
    init(limit: Int) { self.limit = limit }

    /// Adds the next received line.
    ///
    /// - Parameter line: The line, with its line break.
    /// - Returns: The state of the header after the line.
    mutating func add(_ line: Span<UInt8>) -> Finding {
        count += line.count
        if count > limit { return .tooLong }
        if HeaderBlock.isStatusLine(line) {
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(512)
            isComplete = false
            length = nil
            hasSeveralLengths = false
        } else if isComplete {
            return .notShown
        }
        // Safe: the bytes are copied during the call.
        unsafe line.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        if HeaderBlock.hasName("content-length", line) { addLength(line.count) }
        let isEnd = line.count == 0 || line[0] == UInt8(ascii: "\r") || line[0] == UInt8(ascii: "\n")
        return isEnd ? finish() : .incomplete
    }

    /// Records the range of the value of a `Content-Length` field.
    ///
    /// - Parameter count: The length of the field's line, in bytes. This line is the last one in `bytes`.
    private mutating func addLength(_ count: Int) {
        let value = HeaderBlock.trimmed(bytes.suffix(count - "content-length:".utf8.count))
        if let length, bytes[length] != value { hasSeveralLengths = true }
        length = value.indices
    }

    private mutating func finish() -> Finding {
        status = HeaderBlock.status(of: bytes)
        if status < 100 { return .invalid("no status") }
        if status < 200 && status != 101 { return .notShown }
        if hasSeveralLengths { return .invalid("several lengths") }
        isComplete = true
        count = 0
        return .complete
    }

    /// True if the answer redirects the request: its status is 3xx, and it has a `Location` that is not empty.
    var redirects: Bool {
        (300..<400).contains(status) && values(of: "location").contains { !$0.isEmpty }
    }

    /// The version in the status line, such as `1.1`.
    var version: String {
        String(decoding: bytes.dropFirst(5).prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }

    /// The fields, parsed from the lines.
    var fields: HTTPFields {
        var fields = HTTPFields()
        forEachLine { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
            fields.append(
                String(decoding: line[..<colon], as: UTF8.self),
                String(decoding: HeaderBlock.trimmed(line[(colon + 1)...]), as: UTF8.self))
        }
        return fields
    }

    /// Returns the values of all fields with the given name.
    ///
    /// The argument `name` must be in lower case.
    private func values(of name: StaticString) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        forEachLine { line in
            if !HeaderBlock.hasName(name, line.span) { return }
            found.append(HeaderBlock.trimmed(line.dropFirst(name.utf8CodeUnitCount + 1)))
        }
        return found
    }

    /// True if a line holds the field with the given name.
    ///
    /// The argument `name` must be in lower case.
    private static func hasName(_ name: StaticString, _ line: Span<UInt8>) -> Bool {
        let count = name.utf8CodeUnitCount
        if line.count <= count || line[count] != UInt8(ascii: ":") { return false }
        // Safe: a static string lives forever.
        return name.withUTF8Buffer { letters in
            (0..<count).allSatisfy { unsafe HTTPFields.lowercase(line[$0]) == letters[$0] }
        }
    }

    /// Calls a closure with each line after the status line, without its line feed.
    ///
    /// A carriage return before the line feed is kept. The last line is the blank one that ends the header.
    private func forEachLine(_ body: (ArraySlice<UInt8>) -> Void) {
        var start = bytes.startIndex
        var isFirst = true
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if !isFirst { body(bytes[start..<end]) }
            isFirst = false
            start = end + 1
        }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isSpace(_ letter: UInt8) -> Bool { letter == 0x20 || (0x09...0x0d).contains(letter) }
        // Removing the last bytes one by one would copy the array.
        guard let first = text.firstIndex(where: { !isSpace($0) }),
            let last = text.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return text[first...last]
    }

    private static func isStatusLine(_ line: Span<UInt8>) -> Bool {
        line.count > 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T")
            && line[2] == UInt8(ascii: "T")
            && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
    }

    /// The status in a status line: the three digits after the first space.
    ///
    /// The result is 0 if there is no space, or if fewer than three characters follow the space. It is negative if one of the three
    /// characters is not a digit.
    private static func status(of bytes: [UInt8]) -> Int {
        let digits = bytes.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix(3)
        if digits.count < 3 { return 0 }
        return digits.reduce(0) { number, digit in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit)
                ? number * 10 + Int(digit - UInt8(ascii: "0")) : -10_000
        }
    }
}

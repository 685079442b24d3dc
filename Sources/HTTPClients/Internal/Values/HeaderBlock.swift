internal import HTTPTypes

/// The header of the answer that a transfer receives, line by line.
///
/// A transfer can receive several headers in a row: those of interim answers, and that of the last answer. Each header begins with a
/// status line, and replaces the previous header.
///
/// libcurl tolerates much that makes it doubtful where an answer ends, so each line is checked as it arrives. The lines are stored
/// unchanged, except that a line that continues the one before it is joined to it. They are parsed only when a user asks for the
/// fields.
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
        /// The line breaks the rules, or contradicts another line.
        case invalid(String)
    }

    private enum Place: Hashable {
        /// The next line is a status line.
        case start
        /// The next line is a field, a continuation of the field before it, or the empty line.
        case fields
        /// The header of the last answer is complete. Further lines are trailers.
        case end
    }

    /// The maximum number of bytes of a header.
    let limit: Int

    private var bytes: [UInt8] = []
    /// The number of bytes that were added since ``add(_:)`` last returned ``Finding/complete``.
    ///
    /// The bytes of trailers and of the headers of interim answers are counted, too.
    private var count = 0
    private var place = Place.start
    /// The number of lines, and of those that continue a field, counted like ``count``.
    private var (lines, continuations) = (0, 0)

    /// The number of lines that a header may have: each costs time, however short it is.
    static let lineLimit = 1_024
    /// The number of continuations that a header may have: with each one, libcurl copies the field.
    static let continuationLimit = 64

    /// The number of bytes of a URL to which an answer may redirect, because each transfer keeps its URL.
    static let locationLimit = 16 << 10

    private(set) var status = 0
    private(set) var framing = Framing()

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
        lines += 1
        if lines > HeaderBlock.lineLimit {
            return .invalid("more than \(HeaderBlock.lineLimit) lines of headers")
        }
        if HeaderBlock.continues(line) { continuations += 1 }
        if continuations > HeaderBlock.continuationLimit {
            return .invalid("more than \(HeaderBlock.continuationLimit) lines that continue a field")
        }
        if place == .end { return .notShown }
        let end = line.count - 2
        guard end >= 0, line[end] == UInt8(ascii: "\r"), line[end + 1] == UInt8(ascii: "\n"),
            MessageRules.isFieldValue(line.extracting(0..<end))
        else { return .invalid("a line of the header without CR LF, or with CR, LF or NUL in it") }
        switch place {
        case .start: return addStatusLine(line)
        case .fields where end == 0: return finish(line)
        case .fields: return addField(line)
        case .end: return .notShown
        }
    }

    private mutating func addStatusLine(_ line: Span<UInt8>) -> Finding {
        guard let status = HeaderBlock.status(of: line) else { return .invalid("no status") }
        self.status = status
        framing = Framing()
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(512)
        append(line)
        place = .fields
        return .incomplete
    }

    private mutating func addField(_ line: Span<UInt8>) -> Finding {
        if HeaderBlock.continues(line) { return addContinuation(line) }
        var colon = 0
        while line[colon] != UInt8(ascii: ":") {
            colon += 1
            if colon == line.count { return .invalid("a line of the header that is not a field") }
        }
        if !MessageRules.isToken(line.extracting(0..<colon)) {
            return .invalid("a field of the header with a character in its name that is not allowed")
        }
        append(line)
        // Few names have one of these lengths.
        guard colon == "content-length".utf8.count || colon == "transfer-encoding".utf8.count else {
            framing.field = .other
            return .incomplete
        }
        let value = HeaderBlock.trimmed(bytes.suffix(line.count - colon - 1))
        if let problem = framing.addField(
            HeaderBlock.hasName("content-length", line)
                ? .contentLength
                : HeaderBlock.hasName("transfer-encoding", line) ? .transferEncoding : .other,
            value)
        {
            return .invalid(problem)
        }
        return .incomplete
    }

    /// True if a line continues the field before it.
    private static func continues(_ line: Span<UInt8>) -> Bool {
        !line.isEmpty && (line[0] == UInt8(ascii: " ") || line[0] == UInt8(ascii: "\t"))
    }

    /// Joins a line to the field before it; see RFC 9112, 5.2.
    private mutating func addContinuation(_ line: Span<UInt8>) -> Finding {
        // libcurl takes such a field for one that ends at the end of its first line.
        if framing.field != .other { return .invalid("a folded field that says how long the body is") }
        bytes.removeLast(2)
        bytes.append(UInt8(ascii: " "))
        var start = 0
        while line[start] == UInt8(ascii: " ") || line[start] == UInt8(ascii: "\t") { start += 1 }
        append(line.extracting(start..<line.count))
        return .incomplete
    }

    private mutating func finish(_ line: Span<UInt8>) -> Finding {
        append(line)
        if status < 200 && status != 101 {
            // libcurl keeps such a length for the next answer.
            if framing != Framing() { return .invalid("an interim answer that states a length") }
            place = .start
            return .notShown
        }
        if let problem = framing.problem(isVersion11: isVersion11) { return .invalid(problem) }
        place = .end
        (count, lines, continuations) = (0, 0, 0)
        return .complete
    }

    private mutating func append(_ line: Span<UInt8>) {
        // Safe: the bytes are copied during the call.
        unsafe line.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The number of stored bytes.
    var byteCount: Int { bytes.count }

    /// True if some lines of a header have arrived, and more follow.
    var isUnderWay: Bool { place == .fields }

    /// True if the next line is a status line.
    var isAtStart: Bool { place == .start }

    /// True if the version in the status line is 1.0 or 1.1.
    var isVersion1: Bool { bytes["HTTP/".utf8.count] == UInt8(ascii: "1") }

    private var isVersion11: Bool {
        let offset = "HTTP/1.".utf8.count
        return bytes[offset - 1] == UInt8(ascii: ".") && bytes[offset] == UInt8(ascii: "1")
    }

    /// The version in the status line, such as `1.1`.
    var version: String {
        String(decoding: bytes.dropFirst(5).prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }

    /// The text after the status in the status line; empty if there is none.
    var reasonPhrase: String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") }
        // The version, a space, the status, and a space.
        guard let space = line.firstIndex(of: UInt8(ascii: " ")), line.count > space + 5 else { return "" }
        return String(decoding: line[(space + 5)...], as: UTF8.self)
    }

    /// The fields, parsed from the lines.
    var fields: HTTPFields {
        var fields = HTTPFields()
        forEachLine { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { return }
            fields.append(HTTPField(name: name, lenientValue: HeaderBlock.trimmed(line[(colon + 1)...])))
        }
        return fields
    }

    /// Returns the values of all fields with the given name.
    ///
    /// The argument `name` must be in lower case.
    func values(of name: StaticString) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        forEachLine { line in
            if !HeaderBlock.hasName(name, line.span) { return }
            found.append(HeaderBlock.trimmed(line.dropFirst(name.utf8CodeUnitCount + 1)))
        }
        return found
    }

    /// Returns the place to which the answer redirects the request; nil if the answer does not redirect it.
    ///
    /// The statuses 300 and 304 to 306 redirect nothing, even if the answer has a `Location`.
    func location() throws(HTTPClientError) -> String? {
        switch status {
        case 301, 302, 303, 307, 308: break
        default: return nil
        }
        let locations = values(of: "location").filter { !$0.isEmpty }
        guard let location = locations.first else { return nil }
        if locations.contains(where: { $0 != location }) { throw .redirectRefused("several locations") }
        if location.count > HeaderBlock.locationLimit {
            throw .redirectRefused("to a URL of more than \(HeaderBlock.locationLimit) bytes")
        }
        return URLParts.ascii(location)
    }

    /// True if a line holds the field with the given name.
    ///
    /// The argument `name` must be in lower case.
    private static func hasName(_ name: StaticString, _ line: Span<UInt8>) -> Bool {
        let count = name.utf8CodeUnitCount
        if line.count <= count || line[count] != UInt8(ascii: ":") { return false }
        // Safe: a static string lives forever.
        return name.withUTF8Buffer { letters in
            (0..<count).allSatisfy { unsafe MessageRules.lowercase(line[$0]) == letters[$0] }
        }
    }

    /// Calls a closure with each line after the status line, without its line break.
    ///
    /// The last line is the empty one that ends the header.
    private func forEachLine(_ body: (ArraySlice<UInt8>) -> Void) {
        var start = bytes.startIndex
        var isFirst = true
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if !isFirst { body(bytes[start..<(end - 1)]) }
            isFirst = false
            start = end + 1
        }
    }

    /// Returns a text without the spaces and tabs around it.
    static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isSpace(_ letter: UInt8) -> Bool {
            letter == 0x20 || letter == 0x09 || letter == 0x0d || letter == 0x0a
        }
        // Removing the last bytes one by one would copy the array.
        guard let first = text.firstIndex(where: { !isSpace($0) }),
            let last = text.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return text[first...last]
    }

    /// The status in a status line: `HTTP/`, a version, a space, and three digits that a space or the line break follows.
    ///
    /// - Returns: The status; nil if the line has another form.
    private static func status(of line: Span<UInt8>) -> Int? {
        func isDigit(_ index: Int) -> Bool {
            index < line.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(line[index])
        }
        func has(_ letter: Unicode.Scalar, _ index: Int) -> Bool {
            index < line.count && line[index] == UInt8(ascii: letter)
        }
        guard has("H", 0), has("T", 1), has("T", 2), has("P", 3), has("/", 4), isDigit(5) else { return nil }
        var index = 6
        if has(".", index) {
            guard isDigit(index + 1) else { return nil }
            index += 2
        }
        guard has(" ", index), isDigit(index + 1), isDigit(index + 2), isDigit(index + 3),
            has(" ", index + 4) || has("\r", index + 4)
        else { return nil }
        let status = (1...3).reduce(0) { $0 * 10 + Int(line[index + $1] - UInt8(ascii: "0")) }
        return status >= 100 ? status : nil
    }
}

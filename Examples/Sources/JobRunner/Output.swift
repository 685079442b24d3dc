/// The output of a command, of which lines are taken until a limit.
struct Output {
    private let limit: Int
    private var count = 0
    /// The bytes behind the last line end.
    private var line: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    /// True if there was more output than the limit, which is dropped.
    var isOverLimit: Bool { count > limit }

    /// The last line, if no line end is behind it.
    var rest: String? { line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }

    /// Takes bytes of any length, and returns the lines that are complete with them.
    mutating func lines(with bytes: [UInt8]) -> [String] {
        let kept = bytes.prefix(max(limit - count, 0))
        count += bytes.count
        let parts = kept.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var lines: [String] = []
        for part in parts.dropLast() {
            lines.append(String(decoding: line + part, as: UTF8.self))
            line = []
        }
        line += parts.last ?? []
        return lines
    }
}

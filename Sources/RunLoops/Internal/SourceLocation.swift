/// Where in the user's code something was made.
struct SourceLocation: Sendable, CustomStringConvertible {
    let fileID: StaticString
    let line: UInt32

    @inline(__always)
    init(_ fileID: StaticString, _ line: Int) {
        self.fileID = fileID
        self.line = UInt32(truncatingIfNeeded: line)
    }

    var description: String { "\(fileID):\(line)" }
}

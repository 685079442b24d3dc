/// Where in the user's code something was made.
struct SourceLocation: Sendable, CustomStringConvertible {
    let fileID: StaticString
    let line: UInt32

    @inline(__always)
    init(_ fileID: StaticString, _ line: Int) {
        self.fileID = fileID
        self.line = UInt32(truncatingIfNeeded: line)
    }

    /// A job of Swift concurrency, which does not tell where it was made.
    static let job = SourceLocation("a job of a task or an actor", 0)

    var description: String { line == 0 ? "\(fileID)" : "\(fileID):\(line)" }
}

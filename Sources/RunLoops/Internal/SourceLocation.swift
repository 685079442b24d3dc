/// Where in the user's code something was made.
package struct SourceLocation: Sendable, CustomStringConvertible {
    package let fileID: StaticString
    package let line: UInt32

    @inline(__always)
    package init(_ fileID: StaticString, _ line: Int) {
        self.fileID = fileID
        self.line = UInt32(truncatingIfNeeded: line)
    }

    /// A job of Swift concurrency, which does not tell where it was made.
    static var job: SourceLocation { SourceLocation("a job of a task or an actor", 0) }

    /// A notification for an observer on the loop, which tells by itself where it was made.
    static var delivery: SourceLocation { SourceLocation("the delivery of a notification", 0) }

    /// The main dispatch queue, whose blocks do not tell either.
    static var mainQueue: SourceLocation { SourceLocation("DispatchQueue.main", 0) }

    /// Work that the loop asks for, and that was given by many.
    static var deferredWork: SourceLocation { SourceLocation("a notification queue", 0) }

    /// What is called at a thread's end.
    static var endHandler: SourceLocation { SourceLocation("the end of a thread", 0) }

    package var description: String { line == 0 ? "\(fileID)" : "\(fileID):\(line)" }
}

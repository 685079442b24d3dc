/// A place in the user's code where an object was made.
@usableFromInline
package struct SourceLocation: Sendable, CustomStringConvertible {
    package let fileID: StaticString
    package let line: UInt32

    @usableFromInline
    package init(_ fileID: StaticString, _ line: Int) {
        self.fileID = fileID
        self.line = UInt32(truncatingIfNeeded: line)
    }

    /// The place that is recorded for every job of Swift concurrency, because a job has no place of its own.
    static var job: SourceLocation { SourceLocation("a job of a task or an actor", 0) }

    /// The place that is recorded when a delivery of a notification is sent.
    ///
    /// All deliveries share this place. When the observer is called, the place of the notification is recorded instead.
    static var delivery: SourceLocation { SourceLocation("the delivery of a notification", 0) }

    /// The place that is recorded for every block of the main dispatch queue, because a block has no place of its own.
    static var mainQueue: SourceLocation { SourceLocation("DispatchQueue.main", 0) }

    /// The place that is recorded for deferred work, which can come from many places.
    static var deferredWork: SourceLocation { SourceLocation("a notification queue", 0) }

    /// The place that is recorded for blocks that the package performs for itself in modes of the program.
    static var ownWork: SourceLocation { SourceLocation("work of the package", 0) }

    /// The place that is recorded for every handler that is called at the end of a thread.
    static var endHandler: SourceLocation { SourceLocation("the end of a thread", 0) }

    @usableFromInline
    package var description: String { line == 0 ? "\(fileID)" : "\(fileID):\(line)" }

    /// The address of the first byte of the file's name, or 0 if the name has no address.
    ///
    /// A `StaticString` of a single character can lack an address.
    var address: UInt {
        // Safe: the address is only stored.
        fileID.hasPointerRepresentation ? unsafe UInt(bitPattern: fileID.utf8Start) : 0
    }
}

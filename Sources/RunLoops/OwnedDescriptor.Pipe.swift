extension OwnedDescriptor {
    // Frozen, because only then the compiler lets other modules take one of the ends out.

    /// The two ends of a pipe.
    ///
    /// Each end is closed with its owner. Take an end out of a local value to give it an owner of its own; the other end stays
    /// in the value.
    ///
    /// ```swift
    /// let pipe = try OwnedDescriptor.pipe()
    /// let writingEnd = pipe.writingEnd
    /// ```
    ///
    /// > Thread safety: a value that has one owner, which may pass it to any thread.
    @frozen public struct Pipe: ~Copyable, Sendable {
        /// The end from which bytes are read.
        public var readingEnd: OwnedDescriptor

        /// The end to which bytes are written.
        public var writingEnd: OwnedDescriptor

        init(readingEnd: consuming OwnedDescriptor, writingEnd: consuming OwnedDescriptor) {
            self.readingEnd = readingEnd
            self.writingEnd = writingEnd
        }
    }
}

extension OwnedDescriptor {
    // The type is frozen because the compiler otherwise does not allow other modules to take one of the ends out.

    /// The two ends of a pipe.
    ///
    /// Each end is closed when the value that owns it is destroyed. To pass on one end alone, store the pipe in a local
    /// variable, and take the end out of the variable. The other end stays in the variable.
    ///
    /// ```swift
    /// let pipe = try OwnedDescriptor.pipe()
    /// let writingEnd = pipe.writingEnd
    /// ```
    ///
    /// > Thread safety: a value with one owner, which may pass the value to any thread.
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

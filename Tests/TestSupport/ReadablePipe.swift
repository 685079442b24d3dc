internal import Glibc

/// A pipe whose reading end a test can make readable.
///
/// > Thread safety: any thread.
public final class ReadablePipe: Sendable {
    /// The end to watch.
    public let readingEnd: CInt
    private let writingEnd: CInt

    /// Makes an empty pipe.
    public init() {
        var ends: [CInt] = [-1, -1]
        // Safe: the kernel fills an array of two elements.
        let result = unsafe pipe(&ends)
        precondition(result == 0, "a test may open a pipe")
        readingEnd = ends[0]
        writingEnd = ends[1]
    }

    deinit {
        close(readingEnd)
        close(writingEnd)
    }

    /// Writes one byte.
    public func fill() {
        var byte: UInt8 = 1
        // Safe: the kernel reads a local variable of one byte.
        let count = unsafe write(writingEnd, &byte, 1)
        precondition(count == 1, "a pipe has room for a byte")
    }

    /// Reads one byte, which must have been written.
    public func drain() {
        var byte: UInt8 = 0
        // Safe: the kernel writes one byte to a local variable.
        let count = unsafe read(readingEnd, &byte, 1)
        precondition(count == 1, "a byte was written before")
    }
}

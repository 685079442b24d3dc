internal import Glibc
public import TestSupport
internal import Testing

/// Calls a closure while standard error is another descriptor.
///
/// - Parameters:
///   - descriptor: The descriptor.
///   - body: The closure.
/// - Throws: The error of the closure.
public func withStandardError(_ descriptor: CInt, _ body: () throws -> Void) throws {
    // The testing library writes to standard error at its end.
    let before = dup(STDERR_FILENO)
    try #require(dup2(descriptor, STDERR_FILENO) == STDERR_FILENO)
    defer {
        #expect(dup2(before, STDERR_FILENO) == STDERR_FILENO)
        close(before)
    }
    try body()
}

/// Fills a pipe, and makes its ends blocking.
///
/// - Parameter wire: The pipe.
/// - Returns: The number of bytes in the pipe.
/// - Throws: An error if the pipe cannot be changed.
public func fill(_ wire: Wire) throws -> Int {
    var count = 0
    // Single bytes fill the rest of the last page.
    for size in [4_096, 1] {
        let bytes = [UInt8](repeating: UInt8(ascii: "."), count: size)
        // Safe: the kernel reads a local array.
        while unsafe write(wire.far, bytes, size) == size { count += size }
    }
    for end in [wire.near, wire.far] { try #require(fcntl(end, F_SETFL, 0) == 0) }
    return count
}

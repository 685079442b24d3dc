internal import CAllocations

/// Counts of allocations.
public enum Allocations {
    /// False under a sanitizer, which has an allocator of its own.
    public static var areCounted: Bool { allocations_are_counted() }

    /// Counts the allocations that the calling thread makes in a block.
    ///
    /// - Parameter body: The block.
    /// - Returns: The number.
    /// - Throws: The error of the block.
    public static func count(_ body: () throws -> Void) rethrows -> Int {
        let before = allocations_of_thread()
        try body()
        return allocations_of_thread() - before
    }

    /// The number of allocations that the calling thread has made.
    public static var total: Int { Int(allocations_of_thread()) }

    /// The number of bytes that the process has allocated and not freed.
    ///
    /// Of use only in a process of the test's own.
    public static var bytesInUse: Int { Int(allocations_bytes_in_use()) }
}

/// True if the tests are optimized.
///
/// Otherwise closures and `for` loops allocate, too.
public var isOptimized: Bool {
    var isOptimized = true
    // The condition of an assertion is not evaluated in optimized code.
    assert(
        {
            isOptimized = false; return true
        }())
    return isOptimized
}

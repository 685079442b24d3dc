internal import CAllocations

/// What has been allocated.
public enum Allocations {
    /// False under a sanitizer, which has an allocator of its own.
    public static var areCounted: Bool { allocations_are_counted() }

    /// How many allocations the calling thread makes in a block.
    ///
    /// - Parameter body: The block.
    /// - Returns: How many.
    /// - Throws: What the block throws.
    public static func count(_ body: () throws -> Void) rethrows -> Int {
        let before = allocations_of_thread()
        try body()
        return allocations_of_thread() - before
    }

    /// How many allocations the calling thread has made.
    public static var total: Int { Int(allocations_of_thread()) }

    /// How many bytes the process has allocated and not freed.
    ///
    /// Of use only in a process of the test's own.
    public static var bytesInUse: Int { Int(allocations_bytes_in_use()) }
}

/// Whether the tests are optimized: what is not allocates for closures and for loops of its own.
public var isOptimized: Bool {
    var isOptimized = true
    // The condition of an assertion is not evaluated in optimized code.
    assert(
        {
            isOptimized = false; return true
        }())
    return isOptimized
}

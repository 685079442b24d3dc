internal import CAllocations

/// Counts of allocations.
public enum Allocations {
    /// False with a sanitizer, which has an allocator of its own.
    public static var areCounted: Bool { allocations_are_counted() }

    /// Counts the allocations of the calling thread during a closure.
    ///
    /// - Parameter body: The closure.
    /// - Returns: The number of allocations.
    /// - Throws: The error of the closure.
    public static func count(_ body: () throws -> Void) rethrows -> Int {
        let before = allocations_of_thread()
        try body()
        return allocations_of_thread() - before
    }

    /// The number of allocations that the calling thread has made.
    public static var total: Int { Int(allocations_of_thread()) }

    /// The number of bytes that the process has allocated and not freed.
    ///
    /// This is meaningful only in a process of a test's own.
    public static var bytesInUse: Int { Int(allocations_bytes_in_use()) }
}

/// True if the tests are optimised.
///
/// In an unoptimised build, closures and `for` loops allocate memory, too.
public var isOptimized: Bool {
    var isOptimized = true
    // The condition of an assertion is not evaluated in an optimised build.
    assert(
        {
            isOptimized = false; return true
        }())
    return isOptimized
}

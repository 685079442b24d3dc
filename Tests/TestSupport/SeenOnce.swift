/// True if one of several tries succeeds, for something that a slow machine may hide.
///
/// - Parameter body: One try.
/// - Returns: False if no try was seen.
/// - Throws: The error of a try.
public func isSeenOnce(_ body: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<50 where try body() { return true }
    return false
}

/// Whether something that a slow machine may hide is seen in one of several tries.
///
/// - Parameter body: One try.
/// - Returns: False if no try was seen.
/// - Throws: What a try throws.
public func isSeenOnce(_ body: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<50 where try body() { return true }
    return false
}

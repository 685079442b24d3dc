/// Repeats a test that a slow machine can spoil, until an attempt succeeds.
///
/// - Parameter body: An attempt, which returns true if it succeeds.
/// - Returns: False if no attempt has succeeded.
/// - Throws: The error of an attempt.
public func isSeenOnce(_ body: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<50 where try body() { return true }
    return false
}

/// A round that does not count: observers were called more or less often than they should have been.
struct Miscount: Error {
    let expected: Int
    let found: Int

    /// Compares the two.
    static func check(expected: Int, found: Int) throws(Miscount) {
        if found != expected { throw Miscount(expected: expected, found: found) }
    }
}

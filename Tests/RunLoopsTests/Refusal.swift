import Glibc
import RunLoops
import TestSupport
import Testing

// What the kernel refuses to a process of a test's own that has few descriptors left.

/// The limit while nothing is refused.
private let most = 1_024

/// A number above all that are taken.
func boundOfDescriptors() throws -> Int {
    try limitDescriptors(to: most)
    // The child of a test run has its parent's too, with gaps between.
    return 1 + ((0..<most).last { fcntl(CInt($0), F_GETFD) != -1 } ?? 0)
}

/// Takes all free numbers below a bound.
func fillDescriptors(below bound: Int) {
    while case let free = Int(dup(0)), free >= 0 {
        if free < bound { continue }
        close(CInt(free))
        return
    }
}

/// How many numbers from the bound on are taken.
func openDescriptors(from bound: Int) -> Int {
    (bound..<most).count { fcntl(CInt($0), F_GETFD) != -1 }
}

/// The code of what a creation throws, if it does, with so many numbers to be had from a bound on, and none below.
///
/// No longer than that: the runtime would not survive it if it needed one.
func refusal(_ bound: Int, free: Int, _ create: () throws -> Void) -> CInt? {
    do {
        fillDescriptors(below: bound)
        try limitDescriptors(to: bound + free)
        defer { do { try limitDescriptors(to: most) } catch { Issue.record(error) } }
        try create()
        return nil
    } catch let error as SystemError {
        return error.code
    } catch SignalSourceError.refused(let error) {
        return error.code
    } catch {
        Issue.record(error)
        return nil
    }
}

import Foundation
import RunLoops
import TestSupport
import Testing

// What the kernel refuses to a process of a test's own that has few descriptors left.

/// How many numbers from the bound on there are while nothing is refused.
private let plenty = 900

/// A number above all that are taken.
///
/// The child of a test run has some of its parent's, with gaps between, and they are as high as the parent has many.
func boundOfDescriptors() throws -> Int {
    let taken = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
    let bound = 1 + Int(taken.last { fcntl($0, F_GETFD) != -1 } ?? 0)
    try refuseNoDescriptors(from: bound)
    return bound
}

/// Lifts the limit again.
func refuseNoDescriptors(from bound: Int) throws { try limitDescriptors(to: bound + plenty) }

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
    (bound..<bound + plenty).count { fcntl(CInt($0), F_GETFD) != -1 }
}

/// The code of what a creation throws, if it does, with so many numbers to be had from a bound on, and none below.
///
/// No longer than that: the runtime would not survive it if it needed one.
func refusal(_ bound: Int, free: Int, _ create: () throws -> Void) -> CInt? {
    do {
        fillDescriptors(below: bound)
        try limitDescriptors(to: bound + free)
        defer { do { try refuseNoDescriptors(from: bound) } catch { Issue.record(error) } }
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

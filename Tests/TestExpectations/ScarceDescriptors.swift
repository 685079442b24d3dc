internal import Foundation
internal import RunLoops
internal import TestSupport
internal import Testing

// The kernel's refusals to a process of a test's own that has few descriptors left.

/// The count of numbers from the bound on while nothing is refused.
private let plenty = 900

/// Finds a number above all that are taken, and refuses the process none from there on.
///
/// The child of a test run has some of its parent's, with gaps between, and they are as high as the parent has many.
///
/// - Returns: The number.
/// - Throws: If the limit cannot be set.
public func boundOfDescriptors() throws -> Int {
    try warmUpRuntime()
    let taken = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
    let bound = 1 + Int(taken.last { fcntl($0, F_GETFD) != -1 } ?? 0)
    try refuseNoDescriptors(from: bound)
    return bound
}

/// Lifts the limit again.
///
/// - Parameter bound: The bound.
/// - Throws: If the limit cannot be set.
public func refuseNoDescriptors(from bound: Int) throws { try limitDescriptors(to: bound + plenty) }

/// Takes all free numbers below a bound.
///
/// - Parameter bound: The bound.
public func fillDescriptors(below bound: Int) {
    while case let free = Int(dup(0)), free >= 0 {
        if free < bound { continue }
        close(CInt(free))
        return
    }
}

/// Counts the numbers from the bound on that are taken.
///
/// - Parameter bound: The bound.
/// - Returns: The count.
public func openDescriptors(from bound: Int) -> Int {
    (bound..<bound + plenty).count { fcntl(CInt($0), F_GETFD) != -1 }
}

/// Creates something while few numbers are free from the bound on, and none below it.
///
/// No longer than that: the runtime would not survive it if it needed one.
///
/// - Parameters:
///   - bound: The bound.
///   - free: The count of free numbers.
///   - create: Creates it.
/// - Returns: The code of the error that the creation has thrown; nil if it succeeded.
public func refusal(_ bound: Int, free: Int, _ create: () throws -> Void) -> CInt? {
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

internal import Foundation
internal import RunLoops
internal import TestSupport
internal import Testing

// The kernel's refusals in a process of a test's own, which has few descriptors left.

/// The number of descriptors from the bound on that are allowed while nothing is refused.
private let plenty = 900

/// Finds a number above all used descriptors, and allows the process all numbers up to some distance above it.
///
/// The child of a test run has some descriptors of its parent, with gaps between them, and with numbers as high as the parent's.
///
/// - Returns: The number, which is the bound.
/// - Throws: An error if the limit cannot be set.
public func boundOfDescriptors() throws -> Int {
    try warmUpRuntime()
    let taken = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
    let bound = 1 + Int(taken.last { fcntl($0, F_GETFD) != -1 } ?? 0)
    try refuseNoDescriptors(from: bound)
    return bound
}

/// Restores the limit that `boundOfDescriptors()` has set.
///
/// - Parameter bound: The bound.
/// - Throws: An error if the limit cannot be set.
public func refuseNoDescriptors(from bound: Int) throws { try limitDescriptors(to: bound + plenty) }

/// Opens descriptors until all numbers below a bound are used.
///
/// - Parameter bound: The bound.
public func fillDescriptors(below bound: Int) {
    while case let free = Int(dup(0)), free >= 0 {
        if free < bound { continue }
        close(CInt(free))
        return
    }
}

/// Counts the used numbers from a bound on.
///
/// - Parameter bound: The bound.
/// - Returns: The number of open descriptors.
public func openDescriptors(from bound: Int) -> Int {
    (bound..<bound + plenty).count { fcntl(CInt($0), F_GETFD) != -1 }
}

/// Calls a closure while few numbers from the bound on are free, and none below it.
///
/// The limit lasts no longer than the call, because the runtime would fail without a descriptor that it needs.
///
/// - Parameters:
///   - bound: The bound.
///   - free: The number of free descriptors.
///   - create: The closure, which creates an object.
/// - Returns: The code of the error that the closure has thrown, or nil if it succeeded.
public func refusal(_ bound: Int, free: Int, _ create: () throws -> Void) -> CInt? {
    do {
        fillDescriptors(below: bound)
        try limitDescriptors(to: bound + free)
        defer { do { try refuseNoDescriptors(from: bound) } catch { Issue.record(error) } }
        try create()
        return nil
    } catch let error as SystemError {
        return error.code
    } catch let error as SignalSourceError where error.systemError != nil {
        return error.systemError?.code
    } catch {
        Issue.record(error)
        return nil
    }
}

internal import Glibc
public import RunLoops
internal import TestSupport
internal import Testing

/// Waits, without a gate, until other threads make a condition true.
///
/// - Parameters:
///   - what: The condition in words, for the issue that is recorded if it never becomes true.
///   - holds: The condition.
public func waitUntil(_ what: String, _ holds: () -> Bool) {
    let end = ContinuousClock.Instant.hang
    while !holds() {
        if ContinuousClock.now > end {
            Issue.record("it does not come to be: \(what)")
            return
        }
        sched_yield()
    }
}

/// Waits until tasks make a condition true, and leaves the threads of the pool to them.
///
/// - Parameters:
///   - what: The condition in words, for the issue that is recorded if it never becomes true.
///   - holds: The condition.
public func yieldUntil(_ what: String, _ holds: () -> Bool) async {
    let end = ContinuousClock.Instant.hang
    // Between two turns of this task, all other tasks have a turn, and those can be long.
    var turns = 0
    while !holds() {
        if turns > 1_000, ContinuousClock.now > end {
            Issue.record("it does not come to be: \(what)")
            return
        }
        turns += 1
        await Task.yield()
    }
}

/// Calls a function in a handler, which cannot throw, and records an error as an issue of the test.
///
/// - Parameter body: The function.
/// - Returns: The result of the function, or nil if it has thrown.
@discardableResult
public func recorded<Result>(_ body: () throws -> Result) -> Result? {
    do { return try body() } catch {
        Issue.record(error)
        return nil
    }
}

extension RunLoop {
    /// Runs the loop in the default mode until a condition is true.
    ///
    /// - Parameters:
    ///   - what: The condition in words, for the issue that is recorded if it never becomes true.
    ///   - holds: The condition.
    public func run(until what: String, _ holds: () -> Bool) {
        let end = ContinuousClock.Instant.hang
        while !holds() {
            run(in: .default, until: .now + .milliseconds(5), returnAfterSourceHandled: true)
            if ContinuousClock.now > end {
                Issue.record("it does not come to be: \(what)")
                return
            }
        }
    }
}

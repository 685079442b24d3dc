internal import Glibc
public import RunLoops
internal import TestSupport
internal import Testing

/// Waits, without a gate, until something holds that other threads bring about.
///
/// - Parameters:
///   - what: The condition in words, for the issue that is recorded if it never holds.
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

/// Waits until something holds that tasks bring about, which need the threads of the pool.
///
/// - Parameters:
///   - what: The condition in words, for the issue that is recorded if it never holds.
///   - holds: The condition.
public func yieldUntil(_ what: String, _ holds: () -> Bool) async {
    let end = ContinuousClock.Instant.hang
    // Between two turns of this task all others have theirs, and those may be long.
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

/// Calls a function in a handler, which cannot throw: an error is an issue of the test.
///
/// - Parameter body: The function.
/// - Returns: Its result; nil if it has thrown.
@discardableResult
public func recorded<Result>(_ body: () throws -> Result) -> Result? {
    do { return try body() } catch {
        Issue.record(error)
        return nil
    }
}

extension RunLoop {
    /// Runs in the default mode until something holds.
    ///
    /// - Parameters:
    ///   - what: The condition in words, for the issue that is recorded if it never holds.
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

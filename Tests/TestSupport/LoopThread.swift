public import RunLoops

/// Runs the body of a test on a new thread, with the loop of the thread, which the body can run.
///
/// - Parameter body: The closure that the thread runs. Its expectations count for the test.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure, or `SystemError` if the thread cannot be made.
@discardableResult
public func onLoopThread<Result: Sendable>(
    _ body: @escaping @Sendable (RunLoop) throws -> Result
) throws -> Result {
    let box = Box<Result>()
    let gate = Gate()
    try RunLoopThread.detach(name: "test") { loop in
        let result = Swift.Result { try body(loop) }
        box.outcome.withLock { $0 = result }
        gate.open()
    }
    guard gate.wait(seconds: 600), let result = box.outcome.withLock({ $0 }) else { throw TestHangs() }
    return try result.get()
}

/// The error of a test that has waited too long.
public struct TestHangs: Error {}

private final class Box<Result: Sendable>: Sendable {
    let outcome = Locked<Swift.Result<Result, any Error>?>(nil)
}

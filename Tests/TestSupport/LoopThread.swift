public import RunLoops

/// Runs the body of a test on a thread of its own, with that thread's loop, which the body runs as it likes.
///
/// - Parameter body: The closure that runs there. Its expectations count for the test run.
/// - Returns: The result of the body.
/// - Throws: The error of the body, or `SystemError` if there is no thread.
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

/// A test waited for something that did not come.
public struct TestHangs: Error {}

private final class Box<Result: Sendable>: Sendable {
    let outcome = Guarded<Swift.Result<Result, any Error>?>(nil)
}

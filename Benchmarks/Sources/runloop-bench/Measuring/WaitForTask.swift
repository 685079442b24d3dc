/// Runs asynchronous code in a task, and waits for it on a thread that is no task's.
///
/// - Parameters:
///   - executor: What the task prefers; nil for the default executor.
///   - body: What it does.
/// - Returns: What that returns.
func waitForTask<Result: Sendable>(
    preferring executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async -> Result
) -> Result {
    let box = Box<Result>()
    let bed = Bed()
    Task(executorPreference: executor) {
        box.result = await body()
        bed.wake()
    }
    bed.sleep()
    guard let result = box.result else { fatalError("waitForTask: the task wakes us when it has a result") }
    return result
}

/// What a task hands over.
private final class Box<Result>: @unchecked Sendable {
    // Safe because the task sets it before it wakes the thread that reads it.
    var result: Result?
}

/// A block that runs on a loop while another thread or task waits for its result.
///
/// The loop's thread takes the exclusive right to decide the result when it starts the block. So a block that has started cannot be
/// cancelled.
struct AwaitedBlock<Result: Sendable>: Sendable, RunningWait {
    private let result = OneShot<Swift.Result<Result, any Error>>()

    /// Runs the block, unless it was cancelled.
    ///
    /// Only the loop's thread may call this.
    ///
    /// - Parameters:
    ///   - stack: The loop's stack of waits. If the loop's thread ends while the block is running, the stack makes
    ///     the wait for the block fail with `loopEnded`.
    ///   - block: The code of the block.
    func run(on stack: WaitStack? = nil, _ block: () throws -> Result) {
        if !result.claim() { return }
        stack?.push(self)
        let outcome = Swift.Result { try block() }
        stack?.pop()
        result.settle(outcome)
    }

    /// Cancels the block, unless it has started.
    ///
    /// - Parameter error: The error that the waiting thread or task gets.
    /// - Returns: False if the block has already started, or its result is already known.
    @discardableResult
    func cancel(_ error: any Error) -> Bool { result.decide(.failure(error)) }

    /// True if the block has returned or was cancelled, so that a wait for it returns at once.
    var isDecided: Bool { result.isDecided }

    func threadHasEnded() { result.settle(.failure(PerformError.loopEnded)) }

    /// Blocks the calling thread until the block has returned, or was cancelled.
    ///
    /// - Parameter deadline: The time at which the block is cancelled if it has not started. If it has started by then, the call
    ///   waits until the block returns.
    /// - Returns: The result of the block.
    /// - Throws: The error that the block throws, or the error that it was cancelled with.
    func outcome(before deadline: Moment) throws -> Result {
        if !result.wait(until: deadline) && !cancel(PerformError.timedOut) { result.wait() }
        return try result.take().get()
    }

    /// Suspends the calling task until the block has returned, or was cancelled.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the block is cancelled if it has not started.
    ///   - isolation: The isolation of the caller.
    ///   - begin: A function that posts the block to the loop. It is called once, after the task has begun to wait. If the task was
    ///     cancelled before that, the function is not called.
    /// - Returns: The result of the block.
    /// - Throws: The error that the block throws, or the error that it was cancelled with.
    func outcome(
        before deadline: Moment, isolation: isolated (any Actor)? = #isolation, _ begin: () -> Void
    ) async throws -> Result {
        try await result.value(
            before: deadline, timedOut: .failure(PerformError.timedOut),
            cancelled: .failure(CancellationError()),
            isolation: isolation, begin
        ).get()
    }

    /// An object whose destruction cancels the block with the error `loopEnded`.
    ///
    /// Only the closure that was sent to the loop, to run the block, holds this object. If the loop destroys the closure without
    /// having called it, the wait for the block ends.
    final class Ticket: Sendable {
        let wait: AwaitedBlock
        init(_ wait: AwaitedBlock) { self.wait = wait }
        deinit { wait.cancel(PerformError.loopEnded) }
    }
}

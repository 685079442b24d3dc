/// A block that a thread or task waits for, and the result of the block.
///
/// When the loop's thread starts the block, it takes the exclusive right to decide the result. So a block that has started cannot
/// be cancelled.
struct AwaitedBlock<Result: Sendable>: Sendable, RunningWait {
    private let result = OneShot<Swift.Result<Result, any Error>>()

    /// Runs the block, unless it was cancelled.
    ///
    /// Only the loop's thread may call this.
    ///
    /// - Parameters:
    ///   - stack: The wait stack of the loop that runs the block. If the loop's thread ends while the block is running, the wait
    ///     stack ends the wait for the block.
    ///   - block: The block.
    func run(on stack: WaitStack? = nil, _ block: () throws -> Result) {
        if !result.claim() { return }
        stack?.push(self)
        let outcome = Swift.Result { try block() }
        stack?.pop()
        result.settle(outcome)
    }

    /// Prevents the block from starting.
    ///
    /// - Parameter error: The error that the waiter gets.
    /// - Returns: False if the block has already started, or the result is already decided.
    @discardableResult
    func cancel(_ error: any Error) -> Bool { result.decide(.failure(error)) }

    /// True if the result is decided, so that no wait is necessary.
    var isDecided: Bool { result.isDecided }

    func threadHasEnded() { result.settle(.failure(PerformError.loopEnded)) }

    /// Blocks the thread until the block has returned, or was cancelled.
    ///
    /// - Parameter deadline: The time at which the block is cancelled, unless it has started. If the block has started, the call
    ///   waits for its end.
    /// - Returns: The result of the block.
    /// - Throws: The error that the block throws, or the error that it was cancelled with.
    func outcome(before deadline: Moment) throws -> Result {
        if !result.wait(until: deadline) && !cancel(PerformError.timedOut) { result.wait() }
        return try result.take().get()
    }

    /// Suspends the task until the block has returned, or was cancelled.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the block is cancelled, unless it has started.
    ///   - isolation: The isolation of the caller.
    ///   - begin: Posts the block to the loop. It is called once, after the task has begun to wait, or not at all if the task was
    ///     cancelled before.
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

    /// An object that ends the wait with `loopEnded` if the posted block is destroyed without having run.
    ///
    /// Only the posted block holds this object.
    final class Ticket: Sendable {
        let wait: AwaitedBlock
        init(_ wait: AwaitedBlock) { self.wait = wait }
        deinit { wait.cancel(PerformError.loopEnded) }
    }
}

/// A block that runs on a loop while another thread or task waits for its result.
///
/// The loop's thread takes the exclusive right to decide the result when it starts the block. So a block that has started cannot be
/// cancelled. Only what was sent to the loop holds this object: if the loop destroys it without having run it, the wait ends with
/// the error `loopEnded`.
@usableFromInline
final class AwaitedBlock: RunningWait, Sendable {
    private let result: Decision
    private let body: @Sendable () -> Void
    private let storeFailure: @Sendable (any Error) -> Void

    /// Makes a block for a loop.
    ///
    /// - Parameters:
    ///   - result: The decision that is claimed when the block starts.
    ///   - storeFailure: Stores an error as the result.
    ///   - body: Runs the block, and settles the result.
    init(
        _ result: Decision, storeFailure: @escaping @Sendable (any Error) -> Void,
        _ body: @escaping @Sendable () -> Void
    ) {
        self.result = result
        self.body = body
        self.storeFailure = storeFailure
    }

    deinit { result.fail(PerformError(.loopEnded), storeFailure) }

    /// Runs the block, unless it was cancelled.
    ///
    /// Only the loop's thread may call this.
    ///
    /// - Parameter stack: The loop's stack of waits. If the loop's thread ends while the block is running, the stack makes
    ///   the wait for the block fail with `loopEnded`.
    func run(on stack: WaitStack? = nil) {
        if !result.claim() { return }
        stack?.push(self)
        body()
        stack?.pop()
    }

    func threadHasEnded() {
        // The block has settled its result, and the waiter's executor has ended the thread while it was woken.
        if result.isDecided { return }
        storeFailure(PerformError(.loopEnded))
        result.publish()
    }
}

extension Decision {
    /// Decides that the work has failed, unless it has started, or its result is known.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - store: Stores an error as the result.
    /// - Returns: False if the work has started, or its result is known.
    @discardableResult
    func fail(_ error: any Error, _ store: (any Error) -> Void) -> Bool {
        if !claim() { return false }
        store(error)
        publish()
        return true
    }
}

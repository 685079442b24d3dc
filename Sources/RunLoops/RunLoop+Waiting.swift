extension RunLoop {
    /// Runs a block on the loop's thread and waits for its result.
    ///
    /// On the loop's own thread the block runs at once, whatever the modes. Otherwise this thread sleeps until the
    /// block has run; its own loop does not run meanwhile, so two loops that wait for each other wait for ever.
    ///
    /// ```swift
    /// let rows = try database.performAndWait(before: .now + .seconds(1)) { try connection.count() }
    /// ```
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one.
    ///   - deadline: When to give up if the block has not started; nil for never. A block that has started is waited
    ///     for.
    ///   - fileID: Where it was given, for diagnostics.
    ///   - line: Where it was given, for diagnostics.
    ///   - block: What is run.
    /// - Returns: What the block returns.
    /// - Throws: What the block throws, or ``PerformError`` if it has not started and never will.
    ///
    /// > Thread safety: any thread.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous performAndWait instead")
    public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant? = nil,
        fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) throws -> Result {
        if isCurrent { return try block() }
        let wait = AwaitedBlock<Result>()
        let gate = ThreadGate()
        wait.onOutcome { gate.open() }
        post(wait, modes, fileID, line, block)
        if !gate.wait(until: deadline.map { Moment($0) } ?? .never) {
            // Too late to cancel means that the block runs: then its end is near, and its result is wanted.
            if !wait.cancel(.timedOut) { gate.wait() }
        }
        return try wait.takeOutcome()
    }

    /// Runs a block on the loop's thread and waits for its result, without blocking a thread.
    ///
    /// If the task is cancelled before the block has started, the block does not start.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one.
    ///   - fileID: Where it was given, for diagnostics.
    ///   - line: Where it was given, for diagnostics.
    ///   - block: What is run.
    /// - Returns: What the block returns.
    /// - Throws: What the block throws, ``PerformError/loopEnded`` if the loop ends first, or `CancellationError`.
    ///
    /// > Thread safety: any thread.
    public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let wait = AwaitedBlock<Result>()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                wait.onOutcome { continuation.resume() }
                post(wait, modes, fileID, line, block)
                if Task.isCancelled { wait.cancel(nil) }
            }
            return try wait.takeOutcome()
        } onCancel: {
            wait.cancel(nil)
        }
    }

    private func post<Result: Sendable>(
        _ wait: AwaitedBlock<Result>, _ modes: [Mode], _ fileID: StaticString, _ line: Int,
        _ block: @escaping @Sendable () throws -> Result
    ) {
        // If the block is destroyed without having run, the ticket goes with it and says so.
        let ticket = AwaitedBlock<Result>.Ticket(wait)
        perform(inModes: modes, fileID: fileID, line: line) { ticket.wait.run(block) }
    }
}

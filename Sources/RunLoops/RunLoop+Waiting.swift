extension RunLoop {
    /// Runs a block on the loop's thread and waits for its result.
    ///
    /// On the loop's own thread the block runs at once, in any mode. Otherwise this thread sleeps until the block has run; its
    /// own loop does not run meanwhile. If the loop's thread waits for this one, directly or through others, the wait would
    /// last for ever: then the block does not start, and the error names the threads. Deadlines of these waits do not change
    /// that: <doc:Deadlocks>.
    ///
    /// ```swift
    /// let sum = try worker.performAndWait(before: .now + .seconds(1)) { numbers.reduce(0, +) }
    /// ```
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one.
    ///   - deadline: The time at which the wait ends if the block has not started; nil for never. If the block has started, the
    ///     call waits until it returns.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: The result of the block.
    /// - Throws: The error of the block, or ``PerformError`` if the block has not started and never will, or has ended the
    ///   thread.
    ///
    /// > Thread safety: any thread.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous performAndWait instead")
    public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant? = nil,
        fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) throws -> Result {
        Fork.check("RunLoop.performAndWait")
        if isCurrent { return try block() }
        let end = deadline.map { Moment($0) } ?? .never
        let wait = AwaitedBlock<Result>()
        let target = waitTarget
        let threadWait = ThreadWait(
            in: "RunLoop.performAndWait", fileID: fileID, line: line,
            refuse: { wait.cancel(PerformError.circle($0)) },
            for: { wait.isDecided ? [] : [target] })
        // Before the block is performed, because it could start. If the deadline has passed, the call does not wait.
        if end == .never || end > Moment.now(), let circle = threadWait.begin() {
            throw PerformError.circle(circle)
        }
        defer { threadWait.end() }
        post(wait, modes, fileID, line, block)
        do { return try wait.outcome(before: end) } catch let error as PerformError {
            throw error.about(.loop(self))
        }
    }

    /// Runs a block on the loop's thread and awaits its result, without blocking a thread.
    ///
    /// If the task is cancelled before the block has started, the block does not start. The library does not detect a task that
    /// waits for a loop that waits for it.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: The result of the block.
    /// - Throws: The error of the block, ``PerformError/loopEnded`` if the loop ends first, or `CancellationError`.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    nonisolated(nonsending) public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let wait = AwaitedBlock<Result>()
        do {
            return try await wait.outcome(before: .never, isolation: #isolation) {
                post(wait, modes, fileID, line, block)
            }
        } catch let error as PerformError { throw error.about(.loop(self)) }
    }

    /// Runs a block on the loop's thread and awaits its result until a deadline, without blocking a thread.
    ///
    /// If the task is cancelled before the block has started, the block does not start.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one.
    ///   - deadline: The time at which the wait ends if the block has not started. If the block has started, the call waits
    ///     until it returns.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: The result of the block.
    /// - Throws: The error of the block, ``PerformError/timedOut`` if the deadline passes first, ``PerformError/loopEnded`` if
    ///   the loop ends first, or `CancellationError`.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    nonisolated(nonsending) public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant,
        fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let wait = AwaitedBlock<Result>()
        do {
            return try await wait.outcome(before: Moment(deadline), isolation: #isolation) {
                post(wait, modes, fileID, line, block)
            }
        } catch let error as PerformError { throw error.about(.loop(self)) }
    }

    // For a block that is one call whose result need not be used, and is not `Sendable`, such as
    // `Timer.scheduledTimer`. Disfavoured, so that every other block goes to the function that returns its result.

    /// Runs a block on the loop's thread and waits until it has returned.
    ///
    /// The same as the member that returns the block's result. The compiler chooses this one if the block is a single call
    /// whose result may be discarded and is not `Sendable`:
    ///
    /// ```swift
    /// try worker.performAndWait { Timer.scheduledTimer(withTimeInterval: .seconds(1), repeats: true) { _ in tick() } }
    /// ```
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one.
    ///   - deadline: The time at which the wait ends if the block has not started; nil for never.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Throws: The error of the block, or ``PerformError`` if the block has not started and never will, or has ended the
    ///   thread.
    ///
    /// > Thread safety: any thread.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous performAndWait instead")
    @_disfavoredOverload
    public func performAndWait(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant? = nil,
        fileID: StaticString = #fileID, line: Int = #line,
        discardingResultOf block: @escaping @Sendable () throws -> Void
    ) throws {
        // The block has no label here, so this is a call of the one that returns a result.
        try performAndWait(inModes: modes, before: deadline, fileID: fileID, line: line, block)
    }

    /// Runs a block on the loop's thread and waits until it has returned, without blocking a thread.
    ///
    /// The same as the member that returns the block's result. The compiler chooses this one if the block is a single call
    /// whose result may be discarded and is not `Sendable`, such as `Timer.scheduledTimer`.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one.
    ///   - deadline: The time at which the wait ends if the block has not started; nil for never.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Throws: The error of the block, ``PerformError/timedOut(_:)``, ``PerformError/loopEnded(_:)``, or `CancellationError`.
    ///
    /// > Thread safety: any thread, and in any actor.
    @_disfavoredOverload
    nonisolated(nonsending) public func performAndWait(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant? = nil,
        fileID: StaticString = #fileID, line: Int = #line,
        discardingResultOf block: @escaping @Sendable () throws -> Void
    ) async throws {
        let wait = AwaitedBlock<Void>()
        do {
            try await wait.outcome(before: deadline.map { Moment($0) } ?? .never, isolation: #isolation) {
                post(wait, modes, fileID, line, block)
            }
        } catch let error as PerformError { throw error.about(.loop(self)) }
    }

    private func post<Result: Sendable>(
        _ wait: AwaitedBlock<Result>, _ modes: [Mode], _ fileID: StaticString, _ line: Int,
        _ block: @escaping @Sendable () throws -> Result
    ) {
        // If the block is destroyed without having run, the ticket is destroyed with it and ends the wait.
        let ticket = AwaitedBlock<Result>.Ticket(wait)
        perform(inModes: modes, fileID: fileID, line: line) {
            ticket.wait.run(on: RunLoop.existing?.coreIfCurrent?.blocks.waits, block)
        }
    }
}

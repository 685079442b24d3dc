extension RunLoop {
    /// Runs a block on the loop's thread and waits for its result.
    ///
    /// On the loop's own thread the block runs at once, in any mode. Otherwise this thread sleeps until the block has run; its own
    /// loop does not run in the meantime. If the loop's thread waits for this thread, directly or through other threads, the wait
    /// would last for ever. In that case the block does not start, and the error names the threads. The same is true if these waits
    /// have deadlines: <doc:Deadlocks>.
    ///
    /// ```swift
    /// let sum = try worker.performAndWait(before: .now + .seconds(1)) { numbers.reduce(0, +) }
    /// ```
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one mode.
    ///   - deadline: The time at which the wait ends if the block has not started; nil for never. If the block has started, the
    ///     call waits until the block returns.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: The result of the block.
    /// - Throws: The error of the block, or ``PerformError``. In the latter case, the block has not started and will not start, or
    ///   the block itself has ended the loop's thread.
    ///
    /// > Thread safety: any thread.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous performAndWait instead")
    @inlinable
    public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant? = nil,
        fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) throws -> Result {
        if runsHere("RunLoop.performAndWait") { return try block() }
        let wait = OneShot<Swift.Result<Result, any Error>>()
        try performBlocking(wait, modes, deadline, fileID, line, storeFailure: { wait.store(.failure($0)) }) {
            wait.settle(Swift.Result { try block() })
        }
        return try outcome(wait.take())
    }

    /// Runs a block on the loop's thread and awaits its result, without blocking a thread.
    ///
    /// If the task is cancelled before the block has started, the block does not start. The library does not detect a deadlock
    /// between a task and a loop that wait for each other.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one mode.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: The result of the block.
    /// - Throws: The error of the block, ``PerformError/Reason/loopEnded`` if the loop ends first, or `CancellationError`.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let wait = OneShot<Swift.Result<Result, any Error>>()
        let result = await wait.value(
            before: .never, timedOut: .failure(PerformError(.timedOut)),
            cancelled: .failure(CancellationError()), isolation: #isolation
        ) {
            post(wait, modes, fileID, line, storeFailure: { wait.store(.failure($0)) }) {
                wait.settle(Swift.Result { try block() })
            }
        }
        return try outcome(result)
    }

    /// Runs a block on the loop's thread and awaits its result until a deadline, without blocking a thread.
    ///
    /// If the task is cancelled before the block has started, the block does not start.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one mode.
    ///   - deadline: The time at which the wait ends if the block has not started. If the block has started, the call waits until
    ///     the block returns.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: The result of the block.
    /// - Throws: The error of the block, ``PerformError/Reason/timedOut`` if the deadline passes first,
    ///   ``PerformError/Reason/loopEnded`` if the loop ends first, or `CancellationError`.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func performAndWait<Result: Sendable>(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant,
        fileID: StaticString = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let wait = OneShot<Swift.Result<Result, any Error>>()
        let result = await wait.value(
            before: Moment(deadline), timedOut: .failure(PerformError(.timedOut)),
            cancelled: .failure(CancellationError()), isolation: #isolation
        ) {
            post(wait, modes, fileID, line, storeFailure: { wait.store(.failure($0)) }) {
                wait.settle(Swift.Result { try block() })
            }
        }
        return try outcome(result)
    }

    // These overloads are for a block that is a single call whose result is discardable and not `Sendable`, such as
    // `Timer.scheduledTimer`. They are disfavoured, so that every other block selects the overload that returns its result.

    /// Runs a block on the loop's thread and waits until it has returned.
    ///
    /// This is the same as the overload that returns the block's result. The compiler chooses this overload if the block is a
    /// single call whose result is discardable and not `Sendable`:
    ///
    /// ```swift
    /// try worker.performAndWait { Timer.scheduledTimer(withTimeInterval: .seconds(1), repeats: true) { _ in tick() } }
    /// ```
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one mode.
    ///   - deadline: The time at which the wait ends if the block has not started; nil for never.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Throws: The error of the block, or ``PerformError``. In the latter case, the block has not started and will not start, or
    ///   the block itself has ended the loop's thread.
    ///
    /// > Thread safety: any thread.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous performAndWait instead")
    @_disfavoredOverload
    public func performAndWait(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant? = nil,
        fileID: StaticString = #fileID, line: Int = #line,
        discardingResultOf block: @escaping @Sendable () throws -> Void
    ) throws {
        // This call omits the label `discardingResultOf`, so it calls the overload that returns the result of the block.
        try performAndWait(inModes: modes, before: deadline, fileID: fileID, line: line, block)
    }

    /// Runs a block on the loop's thread and waits until it has returned, without blocking a thread.
    ///
    /// This is the same as the overload that returns the block's result. The compiler chooses this overload if the block is a
    /// single call whose result is discardable and not `Sendable`, such as `Timer.scheduledTimer`.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; at least one mode.
    ///   - deadline: The time at which the wait ends if the block has not started; nil for never.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Throws: The error of the block, ``PerformError/Reason/timedOut`` if the deadline passes first,
    ///   ``PerformError/Reason/loopEnded`` if the loop ends first, or `CancellationError`.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @_disfavoredOverload
    nonisolated(nonsending) public func performAndWait(
        inModes modes: [Mode] = [.common], before deadline: ContinuousClock.Instant? = nil,
        fileID: StaticString = #fileID, line: Int = #line,
        discardingResultOf block: @escaping @Sendable () throws -> Void
    ) async throws {
        if let deadline {
            return try await performAndWait(
                inModes: modes, before: deadline, fileID: fileID, line: line, block)
        }
        try await performAndWait(inModes: modes, fileID: fileID, line: line, block)
    }

    // What depends on the type of the result is inlinable, so that it needs no metadata; the rest is here.

    /// True if the caller is on the loop's thread.
    @usableFromInline
    func runsHere(_ member: StaticString) -> Bool {
        Fork.check(member)
        return isCurrent
    }

    /// Returns the result of a block, or throws an error that names the loop.
    @inlinable
    func outcome<Result: Sendable>(_ result: Swift.Result<Result, any Error>) throws -> Result {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw about(error)
        }
    }

    @usableFromInline
    func about(_ error: any Error) -> any Error { (error as? PerformError)?.about("\(self)") ?? error }

    /// Performs a block, and blocks the calling thread until the block has returned, or will not start.
    @usableFromInline
    func performBlocking(
        _ wait: Decision, _ modes: [Mode], _ deadline: ContinuousClock.Instant?, _ fileID: StaticString,
        _ line: Int, storeFailure: @escaping @Sendable (any Error) -> Void,
        _ body: @escaping @Sendable () -> Void
    ) throws {
        let end = Moment(ofDeadline: deadline)
        let target = waitTarget
        let threadWait = ThreadWait(
            in: "RunLoop.performAndWait", fileID: fileID, line: line,
            refuse: { wait.fail(PerformError($0), storeFailure) },
            for: { wait.isDecided ? [] : [target] })
        // The wait begins before the block is performed, so that the block has not started if the wait is refused. If the deadline
        // has passed, the call does not wait.
        if end == .never || end > Moment.now(), let circle = threadWait.begin() {
            throw PerformError(circle)
        }
        defer { threadWait.end() }
        post(wait, modes, fileID, line, storeFailure: storeFailure, body)
        // If the block has started, the call waits until it returns.
        if !wait.wait(until: end) && !wait.fail(PerformError(.timedOut), storeFailure) { wait.wait() }
    }

    @usableFromInline
    func post(
        _ wait: Decision, _ modes: [Mode], _ fileID: StaticString, _ line: Int,
        storeFailure: @escaping @Sendable (any Error) -> Void, _ body: @escaping @Sendable () -> Void
    ) {
        let block = AwaitedBlock(wait, storeFailure: storeFailure, body)
        perform(inModes: modes, fileID: fileID, line: line) {
            block.run(on: RunLoop.existing?.coreIfCurrent?.blocks.waits)
        }
    }
}

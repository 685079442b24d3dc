/// A block that somebody waits for, from being given to its result.
final class AwaitedBlock<Result: Sendable>: Sendable, RunningWait {
    private enum State {
        /// The block has not started.
        case waiting
        /// The block is on the stack of the loop's thread.
        case running
        /// It is decided what the waiter gets.
        case decided(Swift.Result<Result, any Error>)
    }

    private struct Contents {
        var state = State.waiting
        var notify: (@Sendable () -> Void)?
    }

    private let contents = Guarded(Contents())

    /// Sets what is called once the outcome is decided, which may be at once.
    func onOutcome(_ notify: @escaping @Sendable () -> Void) {
        let isDecided = contents.withLock { contents in
            if case .decided = contents.state { return true }
            contents.notify = notify
            return false
        }
        if isDecided { notify() }
    }

    /// Runs the block, unless that was cancelled.
    ///
    /// The loop's thread only.
    ///
    /// - Parameters:
    ///   - stack: The waits on the stack of the loop that runs it.
    ///   - block: The block.
    func run(on stack: WaitStack? = nil, _ block: () throws -> Result) {
        let starts = contents.withLock { contents in
            guard case .waiting = contents.state else { return false }
            contents.state = .running
            return true
        }
        if !starts { return }
        stack?.push(self)
        let result = Swift.Result { try block() }
        stack?.pop()
        decide(result)
    }

    /// Keeps the block from starting.
    ///
    /// - Parameter error: What the waiter gets.
    /// - Returns: False if it was too late.
    @discardableResult
    func cancel(_ error: any Error) -> Bool {
        // Decided in one step: whoever fails to cancel may rely on the block having started, or on the outcome.
        let (cancels, notify): (Bool, (@Sendable () -> Void)?) = contents.withLock { contents in
            guard case .waiting = contents.state else { return (false, nil) }
            contents.state = .decided(.failure(error))
            defer { contents.notify = nil }
            return (true, contents.notify)
        }
        notify?()
        return cancels
    }

    /// Whether the waiter has nothing to wait for any more.
    var isDecided: Bool {
        contents.withLock { contents in
            if case .decided = contents.state { true } else { false }
        }
    }

    /// What was decided.
    func takeOutcome() throws -> Result {
        try contents.withLock { contents throws -> Result in
            guard case .decided(let outcome) = contents.state else {
                preconditionFailure("the waiter is told after the outcome is decided")
            }
            return try outcome.get()
        }
    }

    private func decide(_ outcome: Swift.Result<Result, any Error>) {
        let notify = contents.withLock { contents in
            contents.state = .decided(outcome)
            defer { contents.notify = nil }
            return contents.notify
        }
        notify?()
    }

    /// The loop's thread has ended in the middle of the block.
    func threadHasEnded() { decide(.failure(PerformError.loopEnded)) }

    /// Held by the posted block alone: says that the loop has ended if it goes without having run.
    final class Ticket: Sendable {
        let wait: AwaitedBlock
        init(_ wait: AwaitedBlock) { self.wait = wait }
        deinit { wait.cancel(PerformError.loopEnded) }
    }
}

extension AwaitedBlock {
    /// Waits for the outcome without blocking a thread.
    ///
    /// The isolation is the caller's, and a parameter, because the closures below are isolated to what they hold only: else
    /// they would begin on the default executor's threads. On the way back every continuation goes through those.
    ///
    /// - Parameters:
    ///   - deadline: When the block is cancelled, if it has not started.
    ///   - isolation: The caller's.
    ///   - begin: Gives the block to whoever runs it; called once, when the outcome is waited for.
    /// - Returns: What the block returns.
    /// - Throws: What the block throws, or why it was cancelled.
    func outcome(
        before deadline: Moment, isolation: isolated (any Actor)? = #isolation, _ begin: () -> Void
    ) async throws -> Result {
        var alarm: Task<Void, Never>?
        defer { alarm?.cancel() }
        return try await withTaskCancellationHandler {
            _ = isolation
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                onOutcome { continuation.resume() }
                begin()
                // Only now: what is decided at once is had, also if the deadline has passed.
                alarm = makeAlarm(deadline)
                if Task.isCancelled { cancel(CancellationError()) }
            }
            return try takeOutcome()
        } onCancel: {
            cancel(CancellationError())
        }
    }

    /// Cancels the block at a moment.
    private func makeAlarm(_ deadline: Moment) -> Task<Void, Never>? {
        if deadline == .never { return nil }
        // Not by a timer of the loop: that one may be the one that hangs.
        return Task {
            do { try await Task.sleep(until: deadline.instant, clock: .continuous) } catch { return }
            cancel(PerformError.timedOut)
        }
    }
}

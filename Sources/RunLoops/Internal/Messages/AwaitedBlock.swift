/// A block that somebody waits for, from being given to its result.
final class AwaitedBlock<Result: Sendable>: Sendable {
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
    func run(_ block: () throws -> Result) {
        let starts = contents.withLock { contents in
            guard case .waiting = contents.state else { return false }
            contents.state = .running
            return true
        }
        if !starts { return }
        decide(Swift.Result { try block() })
    }

    /// Keeps the block from starting.
    ///
    /// - Parameter error: What the waiter gets; nil for `CancellationError`.
    /// - Returns: False if it was too late.
    @discardableResult
    func cancel(_ error: PerformError?) -> Bool {
        let cancels = contents.withLock { contents in
            guard case .waiting = contents.state else { return false }
            contents.state = .running
            return true
        }
        if cancels { decide(.failure(error ?? CancellationError())) }
        return cancels
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

    /// Held by the posted block alone: says that the loop has ended if it goes without having run.
    final class Ticket: Sendable {
        let wait: AwaitedBlock
        init(_ wait: AwaitedBlock) { self.wait = wait }
        deinit { wait.cancel(.loopEnded) }
    }
}

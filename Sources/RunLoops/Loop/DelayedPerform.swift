/// A handle for cancelling a block that a loop runs after a delay.
///
/// You can cancel the block until it starts. ``RunLoop/perform(after:inModes:fileID:line:_:)`` returns the handle.
///
/// > Thread safety: any thread.
public final class DelayedPerform: Sendable {
    /// The result of cancelling a delayed block.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum Cancellation: Hashable, Sendable {
        /// The block was cancelled: it has not run, and will not run.
        case cancelled
        /// The block is running.
        case running
        /// The block has run.
        case ran
        /// The block has not run, and will not run, because the loop's thread has ended.
        case loopEnded
    }

    private enum State {
        /// The block has not started.
        case pending(@Sendable () -> Void)
        /// The block is on the stack of the loop's thread.
        case running
        /// The block has returned.
        case ran
        /// The block was cancelled, and released without having run.
        case cancelled
        /// The loop ended before the block started, and the block was released.
        case loopEnded
    }

    private let state: Guarded<State>
    private let loop: RunLoop
    private let modes: [RunLoop.Mode]
    /// The timer that runs the block; weak, because the timer's handler holds this object.
    ///
    /// The loop holds the timer. When the loop ends, it releases the timer, this object and the block.
    ///
    /// `nonisolated(unsafe)`: only the loop's thread uses the timer.
    nonisolated(unsafe) private weak var timer: Timer?

    init(_ loop: RunLoop, _ modes: [RunLoop.Mode], _ block: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.modes = modes
        state = Guarded(.pending(block))
    }

    /// True if the block can still run.
    ///
    /// This is true until the loop calls the block, you cancel the block, or the loop ends.
    ///
    /// > Thread safety: any thread; the block can start at any moment.
    package var isPending: Bool {
        state.withLock { state in
            if case .pending = state { true } else { false }
        }
    }

    /// Cancels the block, if it has not started.
    ///
    /// - Returns: ``Cancellation/cancelled`` if this call or an earlier call has cancelled the block. In that case, the block will
    ///   not start, and is released. Any other value is the reason that the call could not cancel the block.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func cancel() -> Cancellation {
        // The block is taken out under the lock, but released after the unlock, because destroying an object that the block holds
        // can run any code.
        let (result, block): (Cancellation, (@Sendable () -> Void)?) = state.withLock { state in
            switch state {
            case .pending(let block):
                state = .cancelled
                return (.cancelled, block)
            case .running: return (.running, nil)
            case .ran: return (.ran, nil)
            case .cancelled: return (.cancelled, nil)
            case .loopEnded: return (.loopEnded, nil)
            }
        }
        // In a forked child, the timer and the loop stay as they are: they are copies, and nothing runs them.
        if block != nil && !Fork.isChild {
            if loop.coreIfCurrent != nil {
                endTimer()
            } else {
                // The block's timer is in these modes and keeps them alive, so the loop runs this closure in one of them.
                loop.perform(inModes: modes) { self.endTimer() }
            }
        }
        return result
    }

    private func endTimer() {
        unsafe timer?.invalidate()
        unsafe timer = nil
    }

    /// Adds a timer that runs the block at a date.
    ///
    /// If the block can no longer run, for example because it was cancelled, the call does nothing. Only the loop's thread may call
    /// this.
    func schedule(at date: Moment, _ ticket: Ticket, _ fileID: StaticString, _ line: Int) {
        guard isPending else { return }
        let timer = Timer(fireAt: date.instant, interval: .zero, repeats: false, fileID: fileID, line: line) {
            _ in
            ticket.delayed.run()
        }
        unsafe self.timer = timer
        for mode in modes { loop.add(timer, forMode: mode) }
    }

    /// A token that only the loop holds, in the closures that schedule and run the block.
    ///
    /// The token is destroyed with these closures. If the block is still pending at that moment, the loop has ended without running
    /// it.
    final class Ticket: Sendable {
        let delayed: DelayedPerform
        init(_ delayed: DelayedPerform) { self.delayed = delayed }
        deinit { delayed.abandon() }
    }

    private func abandon() {
        // The block is released after the unlock, because destroying an object that the block holds can run any code.
        let block: (@Sendable () -> Void)? = state.withLock { state in
            guard case .pending(let block) = state else { return nil }
            state = .loopEnded
            return block
        }
        _ = block
    }

    private func run() {
        unsafe timer = nil
        let block: (@Sendable () -> Void)? = state.withLock { state in
            guard case .pending(let block) = state else { return nil }
            state = .running
            return block
        }
        guard let block else { return }
        block()
        state.withLock { $0 = .ran }
    }
}

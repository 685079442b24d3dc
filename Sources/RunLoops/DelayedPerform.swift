/// A block that a loop runs after a while, and that can be cancelled until then.
///
/// ``RunLoop/perform(after:inModes:fileID:line:_:)`` makes it.
///
/// > Thread safety: any thread.
public final class DelayedPerform: Sendable {
    /// What cancelling found.
    ///
    /// > Thread safety: a value.
    public enum Cancellation: Hashable, Sendable {
        /// The block has not run, and will not.
        case cancelled
        /// The block is running.
        case running
        /// The block has run.
        case ran
    }

    private enum State {
        /// The block waits.
        case pending(@Sendable () -> Void)
        /// The block is on the stack of the loop's thread.
        case running
        /// The block has returned.
        case ran
        /// The block was let go of without having run.
        case cancelled
    }

    private let state: Guarded<State>
    private let loop: RunLoop
    private let modes: [RunLoop.Mode]
    /// Weak, because the timer's handler holds this object: the loop keeps the timer, and when the loop ends both
    /// go, and the block with them.
    ///
    /// `nonisolated(unsafe)`: the loop's thread only.
    nonisolated(unsafe) private weak var timer: Timer?

    init(_ loop: RunLoop, _ modes: [RunLoop.Mode], _ block: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.modes = modes
        state = Guarded(.pending(block))
    }

    /// Keeps the block from running, if it is in time.
    ///
    /// - Returns: Whether it was: after `cancelled` the block does not start, and has been let go of.
    @discardableResult
    public func cancel() -> Cancellation {
        // Taken out under the lock and let go of after it: what the block holds may call anything.
        let (result, block): (Cancellation, (@Sendable () -> Void)?) = state.withLock { state in
            switch state {
            case .pending(let block):
                state = .cancelled
                return (.cancelled, block)
            case .running: return (.running, nil)
            case .ran: return (.ran, nil)
            case .cancelled: return (.cancelled, nil)
            }
        }
        if block != nil {
            if loop.coreIfCurrent != nil {
                endTimer()
            } else {
                // In the modes that the timer keeps alive.
                loop.perform(inModes: modes) { self.endTimer() }
            }
        }
        return result
    }

    private func endTimer() {
        unsafe timer?.invalidate()
        unsafe timer = nil
    }

    /// Sets the timer.
    ///
    /// The loop's thread only.
    func schedule(at date: Moment, _ fileID: StaticString, _ line: Int) {
        guard case .pending = state.withLock({ $0 }) else { return }
        let timer = Timer(fireAt: date.instant, interval: .zero, repeats: false, fileID: fileID, line: line) {
            _ in
            self.run()
        }
        unsafe self.timer = timer
        for mode in modes { loop.add(timer, forMode: mode) }
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

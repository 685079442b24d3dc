internal import RunLoops

/// The passes of all loops since the simulation's clock has moved, or the body has begun to wait for them.
///
/// If a handler always gives its loop more work without a delay, such as a timer that makes the next one due at once, the loops
/// never have done all that they can, and the clock would stand for ever.
struct PassCount {
    /// What to do at the beginning of a pass.
    enum Step {
        case goOn
        /// Have the loops note their handlers from now on.
        case look
        /// End the program with a message that names the last handler.
        case tell
    }

    private var count = 0
    /// The time on the system's clock at one of the first passes.
    private var beginning: ContinuousClock.Instant?
    /// The number of the pass from which on the loops note their handlers.
    private var lookedAt: Int?

    var isLooking: Bool { lookedAt != nil }

    /// The number of passes between two readings of the system's clock, and also that of the noted ones.
    private static let stretch = 1_024

    /// Counts a pass.
    ///
    /// - Parameters:
    ///   - now: Returns the time on the system's clock.
    ///   - timeout: The time on the system's clock for which the loops may have work at one date.
    /// - Returns: What to do.
    mutating func next(at now: () -> ContinuousClock.Instant, timeout: Duration) -> Step {
        count += 1
        if let lookedAt { return count - lookedAt < PassCount.stretch ? .goOn : .tell }
        if count % PassCount.stretch != 0 { return .goOn }
        guard let beginning else {
            beginning = now()
            return .goOn
        }
        if beginning.duration(to: now()) <= timeout { return .goOn }
        lookedAt = count
        return .look
    }
}

extension Schedule {
    /// Counts a pass, at its beginning on its loop's thread, and ends the program if the loops have too much work at one date.
    ///
    /// - Parameter name: The name of the loop's thread.
    func countPass(of name: String) {
        switch state.withLock({ $0.passes.next(at: { .now }, timeout: patience) }) {
        case .goOn: break
        case .look: RunLoop.beginLooking()
        case .tell:
            // A loop that has called no handler is not the one with the work.
            guard let call = RunLoop.current.lastCall else { return }
            let time = state.withLock { $0.beginning.duration(to: $0.now) }
            fatalError(
                "RunLoopSimulation: the clock stands at \(time) after the beginning, because the loops always have work then; the last handler, on \(name), is that of the \(call.kind) made at \(call.madeAt); let it wait before it gives its loop more work"
            )
        }
    }

    /// Begins to count passes anew.
    func forgetPasses() {
        if state.withLock({ exchange(&$0.passes, with: PassCount()).isLooking }) { RunLoop.endLooking() }
    }
}

internal import RunLoops

/// Who of a simulation runs, and what time it is.
///
/// The body's thread gives turns to the others, when its loop begins a pass and when it waits. They give the turn back when
/// their loops begin a pass and when they wait. All but ``now`` and ``makeDriver(of:)`` is for the body's thread.
final class Schedule: Sendable {
    private struct State {
        /// The body's loop; nil before and after.
        var loop: RunLoop?
        var now = ContinuousClock.now
        var random: SplitMix64
        var threads: [SimulatedThread] = []
        /// The body's loop runs to let everything happen that can, and not to wait for something.
        var isSettling = false
        /// It has ended that run because nothing can happen any more.
        var hasSettled = false
        /// When the body's loop has something to do next, as it said when it came to sleep last.
        var bodyWake = ContinuousClock.Instant.distantFuture
    }

    private let state: Guarded<State>

    private let patience: Duration

    init(seed: UInt64, patience: Duration) {
        state = Guarded(State(random: SplitMix64(seed: seed)))
        self.patience = patience
    }

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    // MARK: - Begin and end

    /// Drives the calling thread, which is the body's.
    func begin(_ loop: RunLoop) {
        state.withLock { $0.loop = loop }
        bodyDriver().begin()
        // Others may go on before each pass.
        let observer = RunLoop.Observer(activities: .beforeTimers, order: .min) { [self] _, _ in
            if state.withLock({ Bool.random(using: &$0.random) }) { _ = letAnotherRun() }
        }
        loop.add(observer, forMode: .common)
    }

    /// Ends all other threads, and drives this one no more.
    func end() {
        state.withLock { $0.loop = nil }
        for thread in state.withLock({ $0.threads }) { thread.loop?.endAllRuns() }
        var patience = Patience(self.patience)
        while !state.withLock({ $0.threads.isEmpty }) {
            if letAnotherRun() {
                // One that has just got its loop is to end, too.
                for thread in state.withLock({ $0.threads }) { thread.loop?.endAllRuns() }
                patience = Patience(self.patience)
            } else if let next = nextWake(), next > now {
                jump(to: next)
            } else {
                patience.wait(
                    "the body has returned, and does not end", state.withLock { $0.threads.map(\.name) })
            }
        }
        ThreadDriver.current?.end()
    }

    /// Ends the program unless this is the body's thread, outside of handlers.
    func requireBody(_ member: StaticString) {
        if state.withLock({ $0.loop })?.isCurrent != true {
            fatalError("\(member): called on another thread than the body's; call it in the body")
        }
        if RunLoop.current.currentMode != nil {
            fatalError("\(member): called in a handler of the loop, which runs already; call it in the body")
        }
    }

    // MARK: - Time

    func jump(to date: ContinuousClock.Instant) { state.withLock { $0.now = max($0.now, date) } }

    /// When the next of the threads has something to do, the body's included.
    private func nextWake() -> ContinuousClock.Instant? {
        let (threads, bodyWake) = state.withLock { ($0.threads, $0.bodyWake) }
        var next = bodyWake
        for thread in threads {
            if case .waits(let date) = thread.answer { next = min(next, date) }
        }
        return next == .distantFuture ? nil : next
    }

    func advance(to end: ContinuousClock.Instant, in mode: RunLoop.Mode) {
        settle(in: mode)
        while let next = nextWake(), next > now, next <= end {
            jump(to: next)
            settle(in: mode)
        }
        jump(to: end)
        settle(in: mode)
    }

    // MARK: - Turns

    /// A thread is about to be started; called on the thread that has the turn.
    func add(_ thread: SimulatedThread) { state.withLock { $0.threads.append(thread) } }

    func pass(in mode: RunLoop.Mode) -> RunLoop.RunResult {
        RunLoop.current.run(in: mode, until: .distantPast)
    }

    /// Runs everything until nothing can happen at this time.
    func settle(in mode: RunLoop.Mode) {
        while true {
            state.withLock { state in
                state.isSettling = true
                state.hasSettled = false
                state.bodyWake = .distantFuture
            }
            let result = RunLoop.current.run(in: mode)
            let hasSettled = state.withLock { state in
                state.isSettling = false
                return state.hasSettled
            }
            if hasSettled { return }
            // The body's loop holds nothing: the others may give it something. A stop ends one run only.
            if result == .finished && !letAnotherRun() { return }
        }
    }

    /// Gives the turn to other threads, in random order, until one has done something.
    ///
    /// - Returns: False if none has.
    private func letAnotherRun() -> Bool {
        for thread in state.withLock({ $0.threads.shuffled(using: &$0.random) }) {
            switch thread.takeTurn(patience) {
            case .worked: return true
            case .waits: continue
            case .ended:
                state.withLock { $0.threads.removeAll { $0 === thread } }
                return true
            }
        }
        return false
    }

    /// What the body's thread does where it would sleep or wait.
    func wait(_ deadline: ContinuousClock.Instant, _ place: ThreadDriver.Place, _ isOver: () -> Bool) {
        var patience = Patience(self.patience)
        while !isOver() && now < deadline {
            if letAnotherRun() {
                patience = Patience(self.patience)
                continue
            }
            if case .sleep(depth: 1) = place, state.withLock({ $0.isSettling }) {
                state.withLock { state in
                    state.hasSettled = true
                    state.bodyWake = deadline
                }
                return RunLoop.current.stop()
            }
            // A handler of the body's waits, and all others do: time goes on, as it would.
            state.withLock { $0.bodyWake = deadline }
            if let next = nextWake(), next > now {
                jump(to: next)
            } else {
                patience.wait(
                    "all wait, and no date is set", state.withLock { ["the body"] + $0.threads.map(\.name) })
            }
        }
    }
}

internal import RunLoops

/// A schedule that decides which thread of a simulation runs, and keeps the simulation's clock.
///
/// Only the thread that has the turn runs. The thread that calls the simulation's body is called the body's thread. It may give the
/// turn to another thread when its own loop begins a pass, and when it waits. The other thread gives the turn back when its loop
/// begins a pass, when it waits, and when it ends.
///
/// > Thread safety: the body's thread only, except for ``now`` and ``makeDriver(of:)``.
final class Schedule: Sendable {
    struct State {
        /// The loop of the body's thread; nil before the body begins and after it has returned.
        var loop: RunLoop?
        /// The date at which the simulation has begun.
        let beginning: ContinuousClock.Instant
        var now: ContinuousClock.Instant
        var passes = PassCount()
        var wallClock: SimulatedWallClock
        var random: SplitMix64
        var threads: [SimulatedThread] = []
        /// True while ``settle(in:)`` runs the loop of the body's thread.
        var isSettling = false
        /// True if the last run of ``settle(in:)`` ended because no thread could continue.
        var hasSettled = false
        /// The deadline of the most recent sleep or wait of the body's thread.
        var bodyWake = ContinuousClock.Instant.distantFuture
    }

    let state: Guarded<State>

    let patience: Duration

    init(seed: UInt64, timeout patience: Duration) {
        let now = ContinuousClock.now
        let wallClock = SimulatedWallClock(at: now)
        state = Guarded(
            State(beginning: now, now: now, wallClock: wallClock, random: SplitMix64(seed: seed)))
        self.patience = patience
    }

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    // MARK: - Begin and end

    /// Installs the driver of the calling thread, which is about to call the simulation's body.
    func begin(_ loop: RunLoop) {
        state.withLock { $0.loop = loop }
        bodyDriver().begin()
        // Before each pass of this loop, the random numbers decide whether another thread runs first.
        let observer = RunLoop.Observer(activities: .beforeTimers, order: .min) { [self] _, _ in
            countPass(of: "the body's thread")
            if state.withLock({ Bool.random(using: &$0.random) }) { _ = letAnotherRun() }
        }
        loop.add(observer, forMode: .common)
    }

    /// Ends all other threads, and removes the driver of the calling thread.
    func end() {
        state.withLock { $0.loop = nil }
        for thread in state.withLock({ $0.threads }) { thread.loop?.endAllRuns() }
        var patience = Patience(self.patience)
        while !state.withLock({ $0.threads.isEmpty }) {
            if letAnotherRun() {
                // A thread may have made its loop during this turn, so all loops are ended again.
                for thread in state.withLock({ $0.threads }) { thread.loop?.endAllRuns() }
                patience = Patience(self.patience)
            } else if let next = nextWake(), next > now {
                jump(to: next)
            } else {
                patience.wait(
                    "the body has returned, and threads do not end", state.withLock { $0.threads.map(\.name) }
                )
            }
        }
        forgetPasses()
        ThreadDriver.current?.end()
    }

    /// Ends the program unless the caller is on the body's thread and outside of handlers.
    func requireBody(_ member: StaticString) {
        if state.withLock({ $0.loop })?.isCurrent != true {
            fatalError("\(member): called on another thread than the body's; call it on the body's thread")
        }
        if RunLoop.current.currentMode != nil {
            fatalError("\(member): called in a handler of the loop; call it in the body, outside of handlers")
        }
    }

    // MARK: - Time

    func jump(to date: ContinuousClock.Instant) {
        state.withLock { $0.now = max($0.now, date) }
        forgetPasses()
    }

    /// Returns the earliest date at which a thread has something to do; nil if there is none.
    ///
    /// The threads include the body's thread.
    private func nextWake() -> ContinuousClock.Instant? {
        let (threads, bodyWake) = state.withLock { ($0.threads, $0.bodyWake) }
        var next = bodyWake
        for thread in threads {
            if case .waits(let date) = thread.answer { next = min(next, date) }
        }
        return next >= .distantFuture ? nil : next
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

    /// Adds a thread that is about to start.
    ///
    /// This is called on the thread that has the turn.
    func add(_ thread: SimulatedThread) { state.withLock { $0.threads.append(thread) } }

    func pass(in mode: RunLoop.Mode) -> RunLoop.RunResult {
        RunLoop.current.run(in: mode, until: .distantPast)
    }

    /// Runs all threads until none of them can continue before the simulation's clock moves on.
    func settle(in mode: RunLoop.Mode) {
        forgetPasses()
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
            // If the result is `finished`, the body's loop has no inputs, but another thread may still add one. So the other
            // threads run before this method returns. With any other result, a handler has stopped this one run, and the loop
            // runs again.
            if result == .finished && !letAnotherRun() { return }
        }
    }

    /// Gives the turn to other threads, in random order, until one of them has done something.
    ///
    /// - Returns: False if all other threads are waiting.
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

    /// Runs other threads and moves the clock until `isOver` returns true or the clock has reached `deadline`.
    ///
    /// The body's thread calls this instead of sleeping or waiting. One case is different: when the body's loop would sleep during
    /// ``settle(in:)`` and no other thread can continue, this method stops the loop and returns. It does not move the clock then.
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
            // The body or one of its handlers waits, and so does every other thread, so the clock moves to the next date.
            state.withLock { $0.bodyWake = deadline }
            if let next = nextWake(), next > now {
                jump(to: next)
            } else {
                patience.wait(
                    "all threads wait, and none has a deadline",
                    state.withLock { ["the body"] + $0.threads.map(\.name) })
            }
        }
    }
}

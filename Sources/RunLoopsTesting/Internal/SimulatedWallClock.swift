internal import RunLoops

/// The wall clock of a simulation, which runs like the simulation's own clock until it is set.
struct SimulatedWallClock {
    private var time = RunLoop.timeSince1970
    /// The instant of the simulation's own clock at which the wall clock showed `time`.
    private var start: ContinuousClock.Instant

    /// The closures that are called after the clock was set, and return false if they must not be called again.
    var watches: [@Sendable () -> Bool] = []

    init(at now: ContinuousClock.Instant) { start = now }

    func time(at now: ContinuousClock.Instant) -> Duration { time + start.duration(to: now) }

    mutating func set(_ time: Duration, at now: ContinuousClock.Instant) {
        self.time = time
        start = now
    }
}

extension Schedule {
    var timeSince1970: Duration { state.withLock { $0.wallClock.time(at: $0.now) } }

    /// Registers a closure that is called when the wall clock was set, until it returns false.
    func watchWallClock(_ watch: @escaping @Sendable () -> Bool) {
        state.withLock { $0.wallClock.watches.append(watch) }
    }

    /// Sets the wall clock, and tells all who watch it.
    func setWallClock(_ time: Duration) {
        let watches = state.withLock { state in
            state.wallClock.set(time, at: state.now)
            return state.wallClock.watches
        }
        // No other thread runs meanwhile, so none registers a closure.
        let left = watches.filter { $0() }
        state.withLock { $0.wallClock.watches = left }
    }
}

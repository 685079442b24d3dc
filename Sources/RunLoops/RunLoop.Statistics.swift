internal import Synchronization

extension RunLoop {
    /// What a loop has counted since it was made.
    ///
    /// The counts are always on: they cost the loop a plain store each. They are read one after the other while the
    /// loop goes on, so they may differ by what it did meanwhile.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// Passes made.
        public var passes = 0
        /// Sleeps that the kernel ended.
        public var wakeUps = 0
        /// Writes to the kernel by senders, to end a sleep.
        public var kernelWrites = 0
        /// System calls by the loop, to wait, to look at descriptors, and to set its alarm.
        public var kernelCalls = 0
        /// Blocks performed, jobs of actors and tasks run, notifications delivered, and messages and signals of ports.
        public var messages = 0
        /// Timers fired.
        public var timerFires = 0
        /// Spins that ended because work came.
        public var spinHits = 0
        /// Spins that ended in sleep.
        public var spinMisses = 0
        /// The handler that took longest, runs inside it included; nil while ``RunLoop/measuresHandlers`` is
        /// false.
        public var longestHandler: Handler?
    }

    /// What the loop has counted since it was made.
    ///
    /// > Thread safety: any thread.
    public var statistics: Statistics {
        let longest = handle.longestHandler.withLock { $0 }
        return Statistics(
            passes: handle.counters.passes.value, wakeUps: handle.counters.wakeUps.value,
            kernelWrites: handle.kernelWrites.load(ordering: .relaxed),
            kernelCalls: handle.counters.kernelCalls.value,
            messages: handle.counters.messages.value, timerFires: handle.counters.timerFires.value,
            spinHits: handle.counters.spinHits.value, spinMisses: handle.counters.spinMisses.value,
            longestHandler: longest.map {
                Statistics.Handler(duration: .nanoseconds($0.nanoseconds), madeAt: $0.origin.description)
            })
    }

    /// Whether each handler is timed, for ``Statistics/longestHandler``: two readings of the clock for each.
    ///
    /// Setting it, to either value, begins anew.
    ///
    /// > Thread safety: the loop's own thread only.
    public var measuresHandlers: Bool {
        get {
            core("RunLoop.measuresHandlers", "perform a block on the loop and read it there")
                .members.handlers.measures
        }
        set {
            let core = core("RunLoop.measuresHandlers", "perform a block on the loop and set it there")
            core.members.handlers.measures = newValue
        }
    }
}

extension RunLoop.Statistics {
    /// A call of a handler.
    ///
    /// > Thread safety: a value.
    public struct Handler: Hashable, Sendable {
        /// How long the call took.
        public var duration: Duration
        /// Where the block, timer, source, port or observer was made: file identifier and line.
        ///
        /// Of a job of Swift concurrency nobody knows; then it says that it was one.
        public var madeAt: String
    }
}

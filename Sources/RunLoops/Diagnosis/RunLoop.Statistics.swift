internal import Synchronization

extension RunLoop {
    /// The counts of a loop since it was made.
    ///
    /// The loop always counts, which costs it a plain store for each count. The counts are read one after another while the loop
    /// runs, so two counts can show different moments.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The number of passes; in each pass, the loop looks for work once and serves it.
        public internal(set) var passes = 0
        /// The number of sleeps that the kernel ended.
        public internal(set) var wakeUps = 0
        /// The number of system calls that senders made to end a sleep of the loop.
        public internal(set) var kernelWrites = 0
        /// The number of system calls that the loop made to wait, to poll descriptors and to set its alarm.
        public internal(set) var kernelCalls = 0
        /// The number of messages that the loop has handled.
        ///
        /// This is the total number of blocks performed, actor and task jobs run, notifications delivered, and port messages and
        /// signals handled.
        public internal(set) var messages = 0
        /// The number of timer fires.
        public internal(set) var timerFires = 0
        /// The number of spins that found work.
        ///
        /// A loop can spin for a short time before it sleeps.
        public internal(set) var spinHits = 0
        /// The number of spins that found no work.
        ///
        /// A loop can spin for a short time before it sleeps.
        public internal(set) var spinMisses = 0
        /// The total time in which the loop ran and did not wait for work.
        ///
        /// The time is counted only while a ``RunLoopWatchdog`` watches, a ``FlightRecorder`` records, or
        /// ``RunLoop/measuresHandlers`` is true. The loop then reads the clock twice for each sleep. The time of a spin before
        /// a sleep does not count as busy. The utilization of a loop is the difference between two readings, divided by the time
        /// between them. For the processor time that the thread has used, see ``RunLoop/processorTime``.
        public internal(set) var busyTime = Duration.zero
        /// The longest call of a handler; nil while ``RunLoop/measuresHandlers`` is false.
        ///
        /// The time of a call includes the time of all runs of the loop inside that call.
        public internal(set) var longestHandler: Handler?
    }

    /// The counts of the loop since it was made.
    ///
    /// > Thread safety: any thread.
    public var statistics: Statistics {
        let longest = handle.longestHandler.withLock { $0 }
        return Statistics(
            passes: handle.counters.passes.value, wakeUps: handle.counters.wakeUps.value,
            kernelWrites: handle.kernelWrites.load(ordering: .relaxed),
            kernelCalls: handle.counters.kernelCalls.value,
            messages: handle.counters.messages, timerFires: handle.counters.timerFires.value,
            spinHits: handle.counters.spinHits.value, spinMisses: handle.counters.spinMisses.value,
            busyTime: .nanoseconds(handle.counters.busyTime.nanoseconds(at: Moment.now())),
            longestHandler: longest.map {
                Statistics.Handler(duration: .nanoseconds($0.nanoseconds), madeAt: $0.origin.description)
            })
    }

    /// True if the loop measures the time of each handler, for ``Statistics/longestHandler``; false by default.
    ///
    /// Measuring takes two readings of the clock for each handler. Setting the property, to either value, resets
    /// ``Statistics/longestHandler``.
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
        /// The time that the call took.
        public internal(set) var duration: Duration
        /// The place where the block, timer, source, port or observer was made: file identifier and line.
        ///
        /// Some calls have no such place, for example a job of Swift concurrency. The text then describes the call instead.
        public internal(set) var madeAt: String
    }
}

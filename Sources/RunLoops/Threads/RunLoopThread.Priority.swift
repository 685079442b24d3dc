internal import CRunLoops

extension RunLoopThread {
    /// The scheduling of a thread among the threads that compete for a processor.
    ///
    /// The two real-time kinds, ``roundRobin(_:)`` and ``firstInFirstOut(_:)``, need a privilege. A nice value needs a privilege if
    /// it is lower than the nice value of the thread that starts the new thread. <doc:Priorities> describes threads of different
    /// priority.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum Priority: Hashable, Sendable {
        /// An ordinary thread, with a nice value from -20 to 19; -20 gives the largest share of the processor.
        case nice(Int)
        /// A thread that runs only while no other thread needs the processor.
        case idle
        /// A real-time thread, with a level of 1 to 99, that takes turns with other threads of its level.
        ///
        /// It runs before all ordinary threads; a higher level runs first.
        case roundRobin(Int)
        /// A real-time thread, with a level of 1 to 99, that runs until it sleeps.
        ///
        /// It runs before all ordinary threads; a higher level runs first.
        case firstInFirstOut(Int)

        /// Gives the calling thread this priority.
        ///
        /// - Throws: `SystemError` if the system refuses the priority.
        func apply() throws(SystemError) {
            switch self {
            case .nice(let value): try Priority.check("setpriority", runloops_set_nice(CInt(clamping: value)))
            case .idle: try Priority.check("sched_setscheduler", runloops_schedule_idle())
            case .roundRobin(let level):
                try Priority.check("sched_setscheduler", runloops_schedule_round_robin(CInt(clamping: level)))
            case .firstInFirstOut(let level):
                try Priority.check("sched_setscheduler", runloops_schedule_fifo(CInt(clamping: level)))
            }
        }

        private static func check(_ call: String, _ code: CInt) throws(SystemError) {
            if code != 0 { throw SystemError(call: call, code: code) }
        }
    }
}

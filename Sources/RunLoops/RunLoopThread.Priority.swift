internal import CThreads

extension RunLoopThread {
    /// How the system chooses between a thread and others that want the same processor.
    ///
    /// What goes beyond the ordinary needs a privilege: less than the nice value of the starting thread, and the two
    /// kinds that go before all others.
    ///
    /// > Thread safety: a value.
    public enum Priority: Hashable, Sendable {
        /// An ordinary thread, whose share shrinks with its nice value: from -20, the largest, to 19.
        case nice(Int)
        /// Runs only where no other thread wants to.
        case idle
        /// Goes before all ordinary threads, in turn with others of its level, 1 to 99; a higher level goes first.
        case roundRobin(Int)
        /// Goes before all ordinary threads until it sleeps, with a level of 1 to 99; a higher one goes first.
        case firstInFirstOut(Int)

        /// Gives the calling thread this priority.
        ///
        /// - Throws: `SystemError`: the system refuses it.
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

#if NIO
    internal import RunLoops

    /// Something of an event loop that has work now and then, such as a channel or the tasks, and takes turns with the others.
    ///
    /// > Thread safety: the loop's thread only.
    protocol EventLoopTurn: AnyObject {
        /// True while this waits for its turn; only ``EventLoopCore`` sets it.
        var isQueued: Bool { get set }

        /// Does some of the work: a bounded number of steps, each of which is paid from the budget.
        func takeTurn(_ budget: inout Budget) -> TurnOutcome
    }

    /// The outcome of a turn.
    enum TurnOutcome {
        /// There is no more work.
        case finished
        /// There is more work, so another turn follows after the turns of all others.
        case unfinished
        /// The budget of this pass was spent before the turn began.
        case refused
    }
#endif

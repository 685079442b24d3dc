extension RunLoop {
    /// The reason for the end of a run.
    ///
    /// The numbers are the same as in Core Foundation's run results.
    ///
    /// > Thread safety: a value.
    public enum RunResult: Int, Sendable {
        /// The mode has no source, port, timer or waiting block, so the loop would sleep for ever.
        case finished = 1
        /// ``RunLoop/stop()`` was called.
        case stopped = 2
        /// The deadline passed.
        case timedOut = 3
        /// A source or port was served, and the caller had asked for the run to return after that.
        case handledSource = 4
    }
}

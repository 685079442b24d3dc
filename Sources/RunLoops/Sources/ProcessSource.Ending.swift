extension ProcessSource {
    /// The way in which a process has ended.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum Ending: Hashable, Sendable {
        /// The process exited by itself, with this exit code.
        case exited(CInt)

        /// A signal ended the process, with or without a core dump.
        case killed(signal: CInt, coreDumped: Bool)

        /// The process was a child of your process, but its status is lost: other code of your process has waited for the child, or
        /// ignores `SIGCHLD`, so that the kernel discards the status.
        case statusTaken

        /// The process was not a child of your process, so only its parent gets the status.
        case notAChild
    }
}

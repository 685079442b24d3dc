extension ProcessSource {
    /// How a process has ended.
    ///
    /// > Thread safety: a value.
    public enum Ending: Hashable, Sendable {
        /// By itself, with this exit code.
        case exited(CInt)

        /// By a signal, with or without a core dump.
        case killed(signal: CInt, coreDumped: Bool)

        /// A child, whose status is not to be had: other code of this process has waited for it, or ignores `SIGCHLD`,
        /// which makes the kernel forget the status.
        case statusTaken

        /// A process that is no child of this one, so only its parent gets the status.
        case notAChild
    }
}

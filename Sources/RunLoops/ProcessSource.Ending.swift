extension ProcessSource {
    /// The way in which a process has ended.
    ///
    /// > Thread safety: a value.
    public enum Ending: Hashable, Sendable {
        /// It exited by itself, with this exit code.
        case exited(CInt)

        /// A signal ended it, with or without a core dump.
        case killed(signal: CInt, coreDumped: Bool)

        /// It was a child, but its status is lost: other code of this process has waited for it, or ignores `SIGCHLD`, which
        /// makes the kernel forget the status.
        case statusTaken

        /// It was no child of this process, so only its parent gets the status.
        case notAChild
    }
}

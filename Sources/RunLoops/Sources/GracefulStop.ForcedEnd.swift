extension GracefulStop {
    /// The reason for the forced end of a graceful stop.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum ForcedEnd: Hashable, Sendable {
        /// A further signal arrived before ``GracefulStop/finish()`` was called; the value is the signal's number.
        case signal(CInt)
        /// The deadline passed before ``GracefulStop/finish()`` was called.
        case timedOut

        /// The exit status of the process.
        ///
        /// For a signal, it is 128 plus the number of the signal, as in shells. For the deadline, it is 124, as in the program
        /// `timeout`.
        public var exitStatus: CInt {
            switch self {
            case .signal(let signal): 128 + signal
            case .timedOut: 124
            }
        }
    }
}

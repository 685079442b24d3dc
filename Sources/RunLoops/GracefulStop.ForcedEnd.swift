extension GracefulStop {
    /// The reason for which a graceful stop is cut short.
    ///
    /// > Thread safety: a value.
    public enum ForcedEnd: Hashable, Sendable {
        /// A further signal has come; this is its number.
        case signal(CInt)
        /// The deadline has passed.
        case deadlinePassed

        /// The status with which the process ends: 128 plus the number of the signal, as shells report a signal; 124 for the
        /// deadline, as the program `timeout` does.
        public var exitStatus: CInt {
            switch self {
            case .signal(let signal): 128 + signal
            case .deadlinePassed: 124
            }
        }
    }
}

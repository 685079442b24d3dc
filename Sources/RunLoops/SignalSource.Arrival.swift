extension SignalSource {
    /// A signal that the process has got.
    ///
    /// > Thread safety: a value.
    public struct Arrival: Hashable, Sendable {
        /// The signal's number.
        public let signal: CInt

        /// Who has sent it; nil if it was the kernel, or if that is not known.
        ///
        /// Not known of the signals beyond the first that a ``count`` stands for.
        public let sender: Sender?

        /// How many signals this stands for: 1, or more if so many came that there was no room for each.
        public let count: Int

        /// A process that has sent a signal.
        ///
        /// > Thread safety: a value.
        public struct Sender: Hashable, Sendable {
            /// The process's number, which may be another one's by now.
            public let processID: CInt

            /// The real user of the process.
            public let userID: CUnsignedInt
        }
    }
}

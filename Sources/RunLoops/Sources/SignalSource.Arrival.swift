extension SignalSource {
    /// A signal that the process has received.
    ///
    /// > Thread safety: a value.
    public struct Arrival: Hashable, Sendable {
        /// The signal's number.
        public let signal: CInt

        /// The process that has sent the signal; nil if the kernel has sent the signal, or the sender is not known.
        ///
        /// If ``count`` is more than one, this is the sender of the first signal; the other senders are not known.
        public let sender: Sender?

        /// The number of signals that this value stands for: 1, or more if there was no room to store each signal.
        public let count: Int

        /// A process that has sent a signal.
        ///
        /// > Thread safety: a value.
        public struct Sender: Hashable, Sendable {
            /// The process ID; by now, the kernel may have given this ID to another process.
            public let processID: CInt

            /// The real user ID of the process.
            public let userID: CUnsignedInt
        }
    }
}

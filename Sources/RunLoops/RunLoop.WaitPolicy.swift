extension RunLoop {
    /// What a loop does between finding nothing to do and sleeping in the kernel.
    ///
    /// A sleeping loop costs no processor time, and waking it costs the sender a system call and both sides
    /// the kernel's hand-over. A spinning loop takes work in a fraction of that time, and its senders
    /// make no system call, but it occupies a processor.
    ///
    /// > Thread safety: a value.
    public struct WaitPolicy: Hashable, Sendable {
        enum Kind: Hashable {
            /// Sleep at once.
            case park
            /// Spin as long as it has paid lately.
            case adaptive
            /// Spin this many nanoseconds.
            case spin(Int64)
        }

        let kind: Kind

        /// Sleep at once.
        public static let park = WaitPolicy(kind: .park)

        /// Spin before sleeping for as long as spinning has lately paid, up to what a wake-up costs here.
        ///
        /// Off where the process may use one processor only, and while as many other loops of the process are
        /// awake as there are processors to spare.
        public static let adaptive = WaitPolicy(kind: .adaptive)

        /// Spin this long before each sleep.
        ///
        /// It pays where senders run on other processors meanwhile. A sender that the system has put on this
        /// loop's processor runs only when the spin is over; ``adaptive`` notices that, this does not.
        ///
        /// Off where the process may use one processor only: what it waits for could not run.
        ///
        /// - Parameter duration: How long; not negative.
        /// - Returns: The policy.
        public static func spin(for duration: Duration) -> WaitPolicy {
            if duration < .zero {
                misuse("WaitPolicy.spin(for:): \(duration) is negative; use .park to sleep at once")
            }
            return WaitPolicy(kind: .spin(duration.nanosecondsRoundedUp))
        }
    }
}

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
        /// It pays where the loop has a processor of its own, and senders run on others. A sender that the system has put on
        /// this loop's processor runs only when the spin is over; ``adaptive`` notices that, this does not.
        ///
        /// If the system takes the processor away from the loop while it spins, other threads want it. The loop then sleeps
        /// at once, and does not spin for a hundred times as long as it was away, at most 10 s. Setting the policy ends
        /// such a pause. The loop notices by its clock that it was away, if that was for more than 200 µs.
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

extension RunLoop.WaitPolicy: CustomStringConvertible {
    /// The policy, as in `spin for 0.001 seconds`.
    public var description: String {
        switch kind {
        case .park: "park"
        case .adaptive: "adaptive"
        case .spin(let nanoseconds): "spin for \(Duration.nanoseconds(nanoseconds))"
        }
    }
}

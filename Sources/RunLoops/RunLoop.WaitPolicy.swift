extension RunLoop {
    /// The way in which a loop without work waits before it sleeps in the kernel.
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
            /// Spin for as long as spinning has recently been worth its cost.
            case adaptive
            /// Spin this many nanoseconds.
            case spin(Int64)
        }

        let kind: Kind

        /// Sleeps at once.
        public static let park = WaitPolicy(kind: .park)

        /// Spins before sleeping for as long as spinning has recently been worth its cost, and at most as long as a wake-up
        /// takes.
        ///
        /// Does not spin if the process may use one processor only, nor while as many other loops of the process are awake as
        /// there are processors to spare.
        public static let adaptive = WaitPolicy(kind: .adaptive)

        /// Spins for a given time before each sleep.
        ///
        /// Spinning is worth its cost if the loop has a processor of its own and senders run on other processors. If the system
        /// has put a sender on this loop's processor, the sender runs only when the spin is over; ``adaptive`` notices that,
        /// this policy does not.
        ///
        /// If the system takes the processor away from the loop while it spins, other threads want it. The loop then sleeps at
        /// once, and does not spin for a hundred times as long as it was away, at most 10 s. Setting the policy ends such a
        /// pause. The loop detects an absence of more than 200 µs by its clock.
        ///
        /// Does not spin if the process may use one processor only, because no sender could run meanwhile.
        ///
        /// - Parameter duration: The time; not negative.
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

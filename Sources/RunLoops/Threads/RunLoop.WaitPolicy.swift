extension RunLoop {
    /// The way in which a loop without work waits before it sleeps in the kernel.
    ///
    /// A sleeping loop uses no processor time. But a sender needs a system call to wake it, and both sides are delayed while the
    /// kernel switches threads. A spinning loop starts work in a fraction of that time, and its senders make no system call, but
    /// it occupies a processor.
    ///
    /// > Thread safety: a value.
    public struct WaitPolicy: Hashable, Sendable {
        enum Kind: Hashable {
            /// The loop sleeps at once.
            case park
            /// The loop spins if spinning has recently been worth its cost.
            case adaptive
            /// The loop spins for a number of nanoseconds.
            case spin(Int64)
        }

        let kind: Kind

        /// Sleeps at once.
        public static let park = WaitPolicy(kind: .park)

        /// Spins before a sleep if spinning has recently been worth its cost, and at most for the time that a wake-up takes.
        ///
        /// The loop does not spin if the process may use only one processor. It also does not spin while so many other loops of the
        /// process are awake that they can occupy all other processors.
        public static let adaptive = WaitPolicy(kind: .adaptive)

        /// Spins for a given time before each sleep.
        ///
        /// Spinning is worth its cost if the loop has its own processor and senders run on other processors. If the system has put
        /// a sender on this loop's processor, the sender runs only when the spin is over. The policy ``adaptive`` detects that;
        /// this policy does not.
        ///
        /// The system can interrupt a spin to run another thread on the loop's processor. That means that other threads need the
        /// processor. So the loop then sleeps at once, and does not spin for a while: for a hundred times the length of the
        /// interruption, but at most for 10 s. Setting the policy ends this pause. The loop detects only interruptions that are
        /// longer than 200 µs. It finds them by reading the clock.
        ///
        /// The loop does not spin if the process may use only one processor, because no sender can run during the spin.
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

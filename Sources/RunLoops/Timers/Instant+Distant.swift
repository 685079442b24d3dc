extension ContinuousClock.Instant {
    /// An instant that never comes: the deadline of a wait without an end.
    ///
    /// This is the last instant that a wait can be set to, some 292 years after the start of the machine.
    public static let distantFuture = ContinuousClock().systemEpoch.advanced(by: .nanoseconds(Int64.max))

    /// An instant that is always in the past: the deadline of a call that tries once and does not wait.
    ///
    /// This is some 292 years before the start of the machine.
    public static let distantPast = ContinuousClock().systemEpoch.advanced(by: .nanoseconds(Int64.min))
}

extension ContinuousClock.Instant {
    /// An instant that never comes: the deadline of a wait without an end.
    ///
    /// It is some 292 years after the machine was started, the last instant that a wait can be set to.
    public static let distantFuture = ContinuousClock().systemEpoch.advanced(by: .nanoseconds(Int64.max))

    /// An instant that has always passed: the deadline of a call that tries once and does not wait.
    ///
    /// It is as long before the machine was started as ``distantFuture`` is after.
    public static let distantPast = ContinuousClock().systemEpoch.advanced(by: .nanoseconds(Int64.min))
}

extension RunLoop {
    /// The present time of the calling thread.
    ///
    /// This is the time of `ContinuousClock`. In a simulation of the module RunLoopsTesting, it is the simulation's time. If your
    /// code computes dates from this property instead of the clock, you can test it without waiting.
    ///
    /// ```swift
    /// loop.run(until: RunLoop.now + .seconds(5))
    /// ```
    ///
    /// > Thread safety: any thread.
    public static var now: ContinuousClock.Instant { Moment.now().instant }
}

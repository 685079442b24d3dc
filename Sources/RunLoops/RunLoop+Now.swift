extension RunLoop {
    /// The time as the calling thread sees it.
    ///
    /// It is that of `ContinuousClock`, except in a test that drives the thread, as the module RunLoopsTesting does: then it
    /// is the test's. Code that computes dates from it, and not from the clock, can be tested without waiting.
    ///
    /// ```swift
    /// loop.run(until: RunLoop.now + .seconds(5))
    /// ```
    ///
    /// > Thread safety: any thread.
    public static var now: ContinuousClock.Instant { Moment.now().instant }
}

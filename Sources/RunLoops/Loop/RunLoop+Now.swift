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

    /// The present time of the wall clock, since 1970-01-01 00:00:00 UTC.
    ///
    /// The clock can be set, so this time can jump, also backwards. To measure time, use ``now``. For a date of the wall clock, use a
    /// ``WallClockTimer``. In a simulation of the module RunLoopsTesting, this is the time of the simulation's wall clock.
    ///
    /// > Thread safety: any thread.
    public static var timeSince1970: Duration { WallClock.now }
}

extension ContinuousClock.Instant {
    /// A deadline so late that a run which lasts until then counts as hung.
    public static var hang: ContinuousClock.Instant { .now + .seconds(300) }
}

extension ContinuousClock.Instant {
    /// So far away that a run which lasts until then has hung.
    public static var hang: ContinuousClock.Instant { .now + .seconds(300) }
}

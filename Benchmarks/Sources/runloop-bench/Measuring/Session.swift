/// What every family of measurements is given.
struct Session {
    /// Where we run.
    let machine: Machine
    /// Whether a rough answer soon is wanted.
    let isQuick: Bool
    /// How often each measurement is repeated, interleaved with all others.
    let rounds: Int
    /// Says how far we are.
    let progress: Progress

    /// How long one measurement of one round lasts.
    func length(_ usual: Duration, quick: Duration) -> Duration { isQuick ? quick : usual }
}

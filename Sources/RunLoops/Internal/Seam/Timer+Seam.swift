/// The properties of a timer under other names.
///
/// A module uses these properties if it declares its own properties with the original names, but with Foundation's types.
extension Timer {
    /// ``Timer/timeInterval`` as a duration.
    package var intervalDuration: Duration { timeInterval }

    /// ``Timer/tolerance`` as a duration.
    package var toleranceDuration: Duration {
        get { tolerance }
        set { tolerance = newValue }
    }

    /// ``Timer/fireDate`` as an instant.
    package var fireInstant: ContinuousClock.Instant {
        get { fireDate }
        set { fireDate = newValue }
    }
}

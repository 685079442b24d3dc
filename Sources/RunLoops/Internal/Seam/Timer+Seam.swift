/// The properties of a timer under other names, for a module that gives the original names to properties with Foundation's types.
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

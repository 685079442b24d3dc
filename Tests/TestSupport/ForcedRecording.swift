internal import Glibc
public import RunLoops

/// A flight recorder for a whole run of the tests, which records everything.
///
/// `RUNLOOPS_RECORD=1` asks for it: every test then runs with the costs and the code paths of a recording. A process has one
/// recorder, so the tests that make their own do not run.
public enum ForcedRecording {
    /// True if it was asked for.
    public static let isOn = unsafe getenv("RUNLOOPS_RECORD") != nil

    /// The recorder of the run.
    public static let recorder: FlightRecorder? = {
        if !isOn { return nil }
        do { return try FlightRecorder(detail: .everything) } catch { fatalError("\(error)") }
    }()
}

/// Begins the recording before the first test.
@c(runloops_tests_begin_recording)
public func beginForcedRecording() {
    _ = ForcedRecording.recorder
}

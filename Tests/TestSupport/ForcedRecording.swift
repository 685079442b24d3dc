internal import Glibc
public import RunLoops

/// A flight recorder for a whole test run, which records everything.
///
/// `RUNLOOPS_RECORD=1` enables it, so that every test runs with the costs and the code paths of a recording. A process has one
/// recorder, so the tests that make their own do not run.
public enum ForcedRecording {
    /// True if the recording is enabled.
    public static let isOn = unsafe getenv("RUNLOOPS_RECORD") != nil

    /// The recorder of the test run.
    public static let recorder: FlightRecorder? = {
        if !isOn { return nil }
        do { return try FlightRecorder(detail: .everything) } catch { fatalError("\(error)") }
    }()
}

/// Starts the recording before the first test.
@c(runloops_tests_begin_recording)
public func beginForcedRecording() {
    _ = ForcedRecording.recorder
}

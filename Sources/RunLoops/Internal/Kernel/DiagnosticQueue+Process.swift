internal import Glibc

extension DiagnosticQueue {
    /// The maximum number of lines that the process's queue holds.
    static let processCapacity = 256

    /// The queue of all diagnostic lines of the process.
    static let process = {
        // At exit, the process waits until the waiting lines are written. If this registration fails, those lines are lost.
        _ = atexit { DiagnosticQueue.drainProcess(until: .now + .seconds(1)) }
        return DiagnosticQueue(capacity: processCapacity)
    }()

    /// Blocks until no diagnostic line of the process is waiting to be written, or until a deadline.
    static func drainProcess(until deadline: ContinuousClock.Instant) {
        if !Fork.isChild { process.drain(until: deadline) }
    }

    /// Queues a diagnostic line to be written, without blocking.
    ///
    /// In a forked child the call does nothing, because the writing thread exists only in the parent.
    static func report(_ line: String, _ details: [String: String] = [:]) {
        if !Fork.isChild { process.append(DiagnosticReport(line, details)) }
    }
}

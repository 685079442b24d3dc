internal import Glibc

extension DiagnosticQueue {
    /// The number of lines that the process's queue holds at most.
    static let processCapacity = 256

    /// The queue of the process.
    static let process = {
        // Where that is refused, lines that wait at exit are lost.
        _ = atexit { DiagnosticQueue.drainProcess(until: .now + .seconds(1)) }
        return DiagnosticQueue(capacity: processCapacity)
    }()

    /// Waits until no line of the process waits, or until a deadline.
    static func drainProcess(until deadline: ContinuousClock.Instant) {
        if !Fork.isChild { process.drain(until: deadline) }
    }

    /// Reports a line, without blocking.
    ///
    /// In a forked child it does nothing: the thread that writes is its parent's.
    static func report(_ line: String) {
        if !Fork.isChild { process.append(line) }
    }
}

internal import CRunLoops
internal import DequeModule

/// A report: one line for an operator, and named details for structured logs.
package struct DiagnosticReport: Sendable {
    package let line: String
    package let details: [String: String]

    init(_ line: String, _ details: [String: String] = [:]) {
        self.line = line
        self.details = details
    }
}

/// The lines that wait to be written to standard error, and the thread that writes them.
///
/// The queue needs a thread, because every way of writing can block. Non-blocking mode is a property of the open file description,
/// which other processes share, and files of slow file systems and suspended terminals block in any mode. Opening standard error a
/// second time, to get another description, fails for sockets, and for programs that have changed their user.
///
/// The thread is started for the first line, and ends when no line waits.
///
/// > Thread safety: any thread.
final class DiagnosticQueue: Sendable {
    typealias Handler = @Sendable (DiagnosticReport) -> Void

    private struct State: Sendable {
        var waiting: Deque<DiagnosticReport> = []
        var handler: Handler?
        /// The number of lines dropped since the queue was last empty.
        var unreportedDrops = 0
        var dropped = 0
        var hasThread = false
        /// The identifier of the thread while it runs; 0 otherwise.
        var thread: UInt = 0
        /// The gates of the threads that wait until the queue is empty.
        var drained: [ThreadGate] = []
    }

    private let capacity: Int
    private let state = Guarded(State())

    init(capacity: Int) { self.capacity = capacity }

    var handler: Handler? {
        get { state.withLock { $0.handler } }
        set {
            // The previous handler is destroyed outside the lock, because its destruction can run code of the program.
            withExtendedLifetime(state.withLock { exchange(&$0.handler, with: newValue) }) {}
        }
    }

    var droppedCount: Int { state.withLock { $0.dropped } }

    /// Adds a report, or counts it as dropped if the queue is full.
    ///
    /// After a line is dropped, all further lines are dropped until the queue is empty. One line then reports the number of
    /// dropped lines.
    func append(_ report: DiagnosticReport) {
        let startsThread = state.withLock { state in
            if state.waiting.count >= capacity || state.unreportedDrops > 0 {
                state.dropped += 1
                state.unreportedDrops += 1
            } else {
                state.waiting.append(report)
            }
            if state.hasThread { return false }
            state.hasThread = true
            return true
        }
        // If no thread can be started, the lines stay in the queue, and the next report tries to start a thread again.
        if startsThread && !startThread() { state.withLock { $0.hasThread = false } }
    }

    /// Blocks until no line waits to be written, or until a deadline.
    ///
    /// If there is no writing thread, or the calling thread is the writing thread, the call returns immediately.
    func drain(until deadline: ContinuousClock.Instant) {
        let gate = ThreadGate()
        let isOpen = state.withLock { state in
            if !state.hasThread || state.thread == UInt(runloops_thread_number()) { return true }
            state.drained.append(gate)
            return false
        }
        if !isOpen { _ = gate.wait(until: deadline) }
    }

    // MARK: - The thread

    private func startThread() -> Bool {
        // The thread blocks signals, because they are for the program's threads, and SIGPIPE would end the program.
        do { try DetachedThread.start(name: "diagnostics", blocksSignals: true) { self.run() } } catch {
            return false
        }
        return true
    }

    /// Writes lines until no line is waiting.
    private func run() {
        state.withLock { $0.thread = UInt(runloops_thread_number()) }
        while let (report, handler) = takeNext() {
            if let handler { handler(report) } else if !StandardError.write(report.line) { countDropped() }
        }
    }

    /// Removes the next report from the queue.
    ///
    /// - Returns: The report, and the handler to call with it, if one is set. Nil if there is no report: the thread must end then.
    private func takeNext() -> (report: DiagnosticReport, handler: Handler?)? {
        var drained: [ThreadGate] = []
        let next: (DiagnosticReport, Handler?)? = state.withLock { state in
            if let report = state.waiting.popFirst() { return (report, state.handler) }
            if state.unreportedDrops > 0 {
                defer { state.unreportedDrops = 0 }
                return (DiagnosticReport(DiagnosticQueue.notice(state.unreportedDrops)), state.handler)
            }
            swap(&drained, &state.drained)
            state.hasThread = false
            state.thread = 0
            return nil
        }
        for gate in drained { gate.open() }
        return next
    }

    private static func notice(_ count: Int) -> String {
        "RunLoops: \(count) reports were dropped, because the queue was full"
    }

    private func countDropped() { state.withLock { $0.dropped += 1 } }
}

/// Reports of events that the package cannot report to a caller as an error, such as a rejected packet from another process.
///
/// A thread that ends is reported, too, if its loop has never run and still holds something, such as a timer: <doc:LoopEnd>.
///
/// A report is one line of text. The package writes it to standard error, unless your program sets a handler:
///
/// ```swift
/// RunLoopDiagnostics.handler = { line in journal.append(line) }
/// ```
///
/// A report never blocks the loop that makes it. The loop appends the line to a queue. A separate thread, which runs only while the
/// queue has lines, writes the lines. If standard error is a full pipe that no process reads, that thread blocks, and the queue
/// fills, because it holds a limited number of lines. Further lines are dropped and counted in ``droppedCount``, and one line with the number of
/// dropped lines takes their place.
///
/// At exit, the program waits up to a second for the lines in the queue to be written. If a misuse ends the program,
/// its message is not a report, and is written at once.
///
/// > Thread safety: any thread.
public enum RunLoopDiagnostics: Sendable {
    /// The maximum number of lines that the queue holds.
    package static let capacity = DiagnosticQueue.processCapacity

    /// Your handler of the reports; nil if they are written to standard error.
    ///
    /// The handler is called with each line, without a line break, on a separate thread: one line at a time, in order, and never on
    /// your threads. The handler may block, take any time, use loops and ports, and set this property. If the handler causes a
    /// report, the report is queued behind the other lines. All signals are blocked on the handler's thread. While the handler
    /// runs, further lines wait.
    ///
    /// You can set the property at any time. Each line goes to the handler that is set when the line leaves the queue. When the
    /// setter returns, a call of the previous handler can still be running. To discard all reports, set a handler that does
    /// nothing.
    ///
    /// > Thread safety: any thread. Not in a signal handler, and not in a forked child.
    public static var handler: (@Sendable (_ line: String) -> Void)? {
        get {
            Fork.check("RunLoopDiagnostics.handler")
            guard let handler = DiagnosticQueue.process.handler else { return nil }
            return { line in handler(DiagnosticReport(line)) }
        }
        set {
            if let newValue { setHandler { newValue($0.line) } } else { setHandler(nil) }
        }
    }

    /// Sets a handler that gets the details of the reports, too.
    ///
    /// There is only one handler: this one replaces a handler that was set through ``handler``.
    package static func setHandler(_ handler: (@Sendable (DiagnosticReport) -> Void)?) {
        Fork.check("RunLoopDiagnostics.handler")
        DiagnosticQueue.process.handler = handler
    }

    /// The number of lines that were dropped since the process started.
    ///
    /// A line is dropped if the queue is full, or if a write to standard error fails.
    ///
    /// > Thread safety: any thread; the value can change at any moment. Not in a forked child.
    public static var droppedCount: Int {
        Fork.check("RunLoopDiagnostics.droppedCount")
        return DiagnosticQueue.process.droppedCount
    }

    /// Reports a line, without blocking.
    ///
    /// In a forked child the call does nothing, because the thread that writes the lines exists only in the parent.
    ///
    /// - Parameters:
    ///   - line: The complete text of the report.
    ///   - details: Parts of the line by name, for structured logs.
    package static func report(_ line: String, _ details: [String: String] = [:]) {
        DiagnosticQueue.report(line, details)
    }
}

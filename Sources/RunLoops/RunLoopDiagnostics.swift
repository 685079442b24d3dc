/// Reports of events that the package cannot return to a caller, such as packets of another process that a port rejects.
///
/// A report is one line of text. Each goes to standard error, unless your program takes the reports:
///
/// ```swift
/// RunLoopDiagnostics.handler = { line in journal.append(line) }
/// ```
///
/// A report never blocks the loop that makes it. The loop leaves the line in a queue, and a thread that runs only while
/// lines wait writes it. If standard error is a full pipe that no process reads, that thread blocks and the queue
/// fills: it holds ``capacity`` lines. Further lines are dropped and counted in ``droppedCount``, and a line that says
/// how many were dropped takes their place.
///
/// At exit, the program waits for up to a second for the lines in the queue. The message of a misuse that ends the program is
/// not a report: it is written at once.
///
/// > Thread safety: any thread.
public enum RunLoopDiagnostics: Sendable {
    /// The largest number of lines that the queue holds.
    public static let capacity = DiagnosticQueue.processCapacity

    /// Your handler of the reports; nil if they are written to standard error.
    ///
    /// The handler is called with each line, without a line break, on a thread that has no other purpose: one line
    /// at a time, in order, and never on a thread of yours. It may block, run for as long as it likes, use loops and ports, and
    /// set this property; what it causes to be reported waits in the queue behind the other lines. All signals are blocked on
    /// its thread. While it runs, further lines wait.
    ///
    /// You can set the property at any time. Lines that wait go to the handler that is set when their turn comes; a call of
    /// the previous handler may still be running when the setter returns. To discard all reports, set a handler that does
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

    /// Sets a handler of the reports that takes their details, too.
    ///
    /// It takes the place of ``handler``.
    package static func setHandler(_ handler: (@Sendable (DiagnosticReport) -> Void)?) {
        Fork.check("RunLoopDiagnostics.handler")
        DiagnosticQueue.process.handler = handler
    }

    /// The number of lines that were dropped since the process started: the queue was full, or standard error refused them.
    ///
    /// > Thread safety: any thread; the value can change at any moment. Not in a forked child.
    public static var droppedCount: Int {
        Fork.check("RunLoopDiagnostics.droppedCount")
        return DiagnosticQueue.process.droppedCount
    }

    /// Reports a line, without blocking.
    ///
    /// In a forked child it does nothing, because the thread that writes the lines belongs to its parent.
    ///
    /// - Parameters:
    ///   - line: The line, which says everything.
    ///   - details: Parts of the line by name, for logs that keep them apart.
    package static func report(_ line: String, _ details: [String: String] = [:]) {
        DiagnosticQueue.report(line, details)
    }
}

internal import Glibc
internal import RunLoops

/// Writes a line to standard output immediately, so that it is not lost if the program hangs or is ended.
///
/// - Parameter items: The parts of the line.
public func tell(_ items: Any...) {
    write(items.map { "\($0)" }.joined(separator: " "), to: STDOUT_FILENO)
}

/// Writes a line to standard error, for a reader of the test's output.
///
/// - Parameter line: The line.
public func complain(_ line: String) { write(line, to: STDERR_FILENO) }

private func write(_ line: String, to descriptor: CInt) {
    let bytes = Array((line + "\n").utf8)
    // Safe: the kernel reads a local array.
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
}

/// Describes the thread and queue of the caller, as the main loop sees them.
///
/// - Returns: A description in words.
public func here() -> String {
    switch (RunLoop.main.isCurrent, RunLoop.main.isServicingMainQueue) {
    case (true, true): "main thread and main queue"
    case (true, false): "main thread only"
    case (false, true): "main queue only"
    case (false, false): "elsewhere"
    }
}

internal import Glibc
internal import RunLoops

/// Writes a line to the standard output at once: it is not lost when the program hangs or is ended.
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
    // Safe: the kernel reads our own array.
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
}

/// The place of the caller, as the main loop sees it.
///
/// - Returns: Words for it.
public func here() -> String {
    switch (RunLoop.main.isCurrent, RunLoop.main.isServicingMainQueue) {
    case (true, true): "main thread and main queue"
    case (true, false): "main thread only"
    case (false, true): "main queue only"
    case (false, false): "elsewhere"
    }
}

internal import RunLoops
internal import TestSupport
internal import Testing

/// Calls a closure on a thread of its own, and returns what is reported until that thread has ended.
///
/// No other thread of the process may report anything meanwhile.
///
/// - Parameter body: The closure.
/// - Returns: The lines.
/// - Throws: `SystemError` if a thread cannot be started.
public func unservedLines(_ body: @escaping @Sendable () throws -> Void) throws -> [String] {
    let (lines, isOver) = (Log<String>(), Gate())
    RunLoopDiagnostics.handler = { line in
        if line.contains("TestExpectations/") { isOver.open() } else { lines.add(line) }
    }
    try BareThread { do { try body() } catch { Issue.record(error) } }.join()
    // The lines keep their order. So this block, which is never served, either, is reported last.
    try BareThread { RunLoop.current.perform {} }.join()
    #expect(isOver.wait())
    return lines.entries
}

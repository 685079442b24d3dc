internal import RunLoops

/// Reports the packets and peers that a port or connection has turned away.
///
/// Only the first ones are reported, because the peers decide how many there are.
final class RateLimitedLog: Sendable {
    /// The number of lines that are reported.
    static let mostLines = 16

    private let count = Guarded(0)

    /// Reports a line, if fewer than ``mostLines`` were reported before.
    ///
    /// The line is made only if it is reported.
    func report(_ line: @autoclosure () -> String) {
        let number = count.withLock { count in
            if count <= RateLimitedLog.mostLines { count += 1 }
            return count
        }
        if number < RateLimitedLog.mostLines { RunLoopDiagnostics.report(line()) }
        if number == RateLimitedLog.mostLines {
            RunLoopDiagnostics.report("\(line()); further events of this port are counted, and not reported")
        }
    }
}
